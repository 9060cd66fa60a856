// The space's revision, how many of its facts have vectors, and their model.
OPTIONAL MATCH (s:BraidSpace {group_id: $space})
RETURN coalesce(s.revision, 0) AS revision, coalesce(s.vectors, 0) AS vectors, s.embedding_model AS model
