// Stated facts of a space in time order.
CREATE INDEX braid_fact_by_start IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.valid_from, e.uuid)
