// Versions of a space's facts in time order.
CREATE INDEX braid_version_by_start IF NOT EXISTS FOR (v:FactVersion) ON (v.group_id, v.valid_from, v.fact_uuid)
