// name: get_ontology
// The space's ontology as text, and its version.
MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE o.version > 0
RETURN o.text AS text, o.version AS version

// name: lock_ontology
// Locks the space's ontology, creating its node if there is none; returns its content.
MERGE (o:BraidOntology {group_id: $p.space})
ON CREATE SET o.version = 0, o.text = ''
SET o.locked = true
RETURN o.text AS text, o.version AS version

// name: put_ontology
// Replaces the space's ontology, with the keys of its relations that are events; returns its version.
MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
SET o.text = $p.text, o.events = $p.events, o.version = o.version + 1
RETURN o.version AS version
