// Returns the space's model, the model that it is changing to, and how many texts have vectors.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.embedding_model, '') AS model, coalesce(s.changing, '') AS changing,
       coalesce(s.embedding_dimension, 0) AS dimension, coalesce(s.next_model, '') AS next_model, coalesce(s.next_dimension, 0) AS next_dimension,
       coalesce(s.vectors, 0) + coalesce(s.finding_vectors, 0) AS vectors
