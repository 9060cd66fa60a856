// Updates the number of the space's facts with vectors, and sets the vectors' model and length if unset.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.vectors = coalesce(s.vectors, 0) + $p.change, s.embedding_model = coalesce(s.embedding_model, $p.model),
    s.embedding_dimension = coalesce(s.embedding_dimension, $p.dimension)
