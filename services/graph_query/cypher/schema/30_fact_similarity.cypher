// Stated facts by similarity, with space, time and relation filtered inside the index.
CYPHER 25 CREATE VECTOR INDEX braid_fact_similarity IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON e.fact_embedding
WITH [e.group_id, e.valid_from, e.valid_until, e.relation_key] OPTIONS $options
