// Locks the space's ontology, creating its node if there is none; returns its content.
MERGE (o:BraidOntology {group_id: $p.space})
ON CREATE SET o.version = 0, o.text = ''
SET o.locked = true
RETURN o.text AS text, o.version AS version
