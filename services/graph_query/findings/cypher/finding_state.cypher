// The space's state for a search of findings.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.revision, 0) AS revision, coalesce(s.finding_vectors, 0) AS vectors, coalesce(s.embedding_model, '') AS model,
       coalesce(s.embedding_dimension, 0) AS dimension
