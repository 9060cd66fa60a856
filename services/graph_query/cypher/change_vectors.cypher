// Keeps count of the space's facts with vectors and notes their model.
MATCH (s:BraidSpace {group_id: $p.space})
SET s.vectors = coalesce(s.vectors, 0) + $p.change, s.embedding_model = coalesce(s.embedding_model, $p.model)
