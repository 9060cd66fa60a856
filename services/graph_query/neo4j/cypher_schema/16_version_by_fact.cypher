// The versions of a fact.
CREATE INDEX braid_version_by_fact IF NOT EXISTS FOR (v:FactVersion) ON (v.fact_uuid)
