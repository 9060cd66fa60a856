// Which document or episode a fact was given with: once each. A fact that was given with none has a claim without claimant.
CREATE CONSTRAINT braid_fact_claimant IF NOT EXISTS FOR (c:FactClaim) REQUIRE (c.group_id, c.claimant, c.fact_uuid) IS UNIQUE
