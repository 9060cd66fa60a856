// Facts of a space by uuid.
CREATE INDEX braid_fact_listing IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.uuid)
