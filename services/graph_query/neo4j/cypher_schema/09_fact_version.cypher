// Versions of facts by uuid.
CREATE CONSTRAINT braid_fact_version_uuid IF NOT EXISTS FOR (v:FactVersion) REQUIRE v.uuid IS UNIQUE
