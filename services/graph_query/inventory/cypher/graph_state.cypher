// The space's revision, and its ontology with the keys of its events.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
RETURN coalesce(s.revision, 0) AS revision, coalesce(o.version, 0) AS version, o.text AS text, o.events AS events
