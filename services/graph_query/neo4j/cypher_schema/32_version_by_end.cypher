// Versions by when they were known no longer: those that are known still are of an older design.
CREATE INDEX braid_version_by_end IF NOT EXISTS FOR (v:FactVersion) ON (v.known_until)
