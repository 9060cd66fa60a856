// Facts of a space and relation.
CREATE INDEX braid_fact_by_space IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.name)
