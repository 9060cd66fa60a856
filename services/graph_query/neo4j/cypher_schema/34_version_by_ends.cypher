// What was ever known of an entity, or between two.
CREATE INDEX braid_version_by_ends IF NOT EXISTS FOR (v:FactVersion) ON (v.source_uuid, v.target_uuid)
