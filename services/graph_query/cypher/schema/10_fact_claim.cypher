// Which document a fact was given with: once each.
CREATE CONSTRAINT braid_fact_claim IF NOT EXISTS FOR (c:FactClaim) REQUIRE (c.group_id, c.document_id, c.fact_uuid) IS UNIQUE
