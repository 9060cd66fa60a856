// Takes the lock of the space's ontology, making its node where there is none; answers with what it holds.
MERGE (o:BraidOntology {group_id: $p.space})
ON CREATE SET o.version = 0, o.text = ''
SET o.locked = true
RETURN o.text AS text, o.version AS version
