// Keeps count of the space's findings with vectors and notes their model.
MATCH (s:BraidSpace {group_id: $p.space})
SET s.finding_vectors = coalesce(s.finding_vectors, 0) + $p.change, s.embedding_model = coalesce(s.embedding_model, $p.model)
