// Replaces the space's ontology; answers with its version.
MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
SET o.text = $p.text, o.version = o.version + 1
RETURN o.version AS version
