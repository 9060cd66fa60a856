// Begins the change to another model; until it ends, the space has no model that can be queried.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id) WHERE s.changing IS NULL
SET s.embedding_dimension = CASE WHEN s.next_model = $p.model THEN s.next_dimension END
SET s.changing = $p.model, s.embedding_model = $p.mark
REMOVE s.next_model, s.next_dimension
