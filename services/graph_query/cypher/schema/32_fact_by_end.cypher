// Stated facts of a space by when they end.
CREATE INDEX braid_fact_by_end IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.valid_until)
