// The episodes that findings come from: one node each, which outlives an episode's replacement.
CREATE CONSTRAINT braid_finding_source IF NOT EXISTS FOR (s:BraidSource) REQUIRE s.uuid IS UNIQUE
