// What was ever known with an entity at the other end.
CREATE INDEX braid_version_by_target IF NOT EXISTS FOR (v:FactVersion) ON (v.target_uuid)
