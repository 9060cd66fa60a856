// Findings by uuid.
CREATE CONSTRAINT braid_finding_uuid IF NOT EXISTS FOR (f:BraidFinding) REQUIRE f.uuid IS UNIQUE
