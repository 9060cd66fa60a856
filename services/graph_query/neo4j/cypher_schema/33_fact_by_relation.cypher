// Stated facts of a space and relation in time order.
CREATE INDEX braid_fact_by_relation IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.relation_key, e.valid_from, e.uuid)
