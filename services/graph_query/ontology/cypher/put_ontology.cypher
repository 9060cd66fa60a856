// Replaces the space's ontology, with the keys of its relations that are events; returns its version.
MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
SET o.text = $p.text, o.events = $p.events, o.version = o.version + 1
RETURN o.version AS version
