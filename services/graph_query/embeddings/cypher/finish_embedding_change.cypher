// Ends the change to another model: the new model becomes the space's own.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id) WHERE s.changing IS NOT NULL
SET s.embedding_model = s.changing
REMOVE s.changing, s.changed_facts, s.changed_findings, s.changed_names
