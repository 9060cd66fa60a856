// The space's ontology as text, and its version.
MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE o.version > 0
RETURN o.text AS text, o.version AS version
