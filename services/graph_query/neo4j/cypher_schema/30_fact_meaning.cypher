// Stated facts by similarity, with space, time and relation filtered inside the index; a vector is compared with those of its length.
CYPHER 25 CREATE VECTOR INDEX braid_fact_meaning IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON e.fact_embedding
WITH [e.group_id, e.valid_from, e.valid_until, e.relation_key] OPTIONS $options
