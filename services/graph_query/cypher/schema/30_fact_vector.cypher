// Stated facts by similarity, with space and time filtered inside the index.
CYPHER 25 CREATE VECTOR INDEX braid_fact_vector IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON e.fact_embedding
WITH [e.group_id, e.valid_from, e.valid_until] OPTIONS $options
