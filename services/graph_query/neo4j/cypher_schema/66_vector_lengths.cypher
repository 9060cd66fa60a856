// How long a space's vectors are was not noted before: as long as any of them is.
MATCH (s:BraidSpace) WHERE s.embedding_model IS NOT NULL AND s.embedding_dimension IS NULL AND s.changing IS NULL
CALL (s) {
  MATCH ()-[e:RELATES_TO]->()
  WHERE coalesce(s.vectors, 0) > 0 AND e.group_id = s.group_id AND e.valid_from >= -$open AND e.uuid >= '' AND e.fact_embedding IS NOT NULL
  RETURN size(e.fact_embedding) AS dimension LIMIT 1
  UNION
  MATCH (f:BraidFinding)
  WHERE coalesce(s.finding_vectors, 0) > 0 AND f.group_id = s.group_id AND f.uuid >= '' AND f.embedding IS NOT NULL
  RETURN size(f.embedding) AS dimension LIMIT 1
  UNION
  MATCH (n:Entity)
  WHERE n.group_id = s.group_id AND n.uuid >= '' AND n.name_embedding IS NOT NULL
  RETURN size(n.name_embedding) AS dimension LIMIT 1
}
WITH s, head(collect(dimension)) AS dimension
SET s.embedding_dimension = dimension
