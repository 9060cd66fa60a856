// Stores the model and the length of the staged vectors.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.next_model = $p.model, s.next_dimension = $p.dimension
