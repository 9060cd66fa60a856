// Which document had claimed a fact that is no more: once each.
CREATE CONSTRAINT braid_past_claim IF NOT EXISTS FOR (c:BraidPastClaim) REQUIRE (c.group_id, c.document_id, c.fact_uuid) IS UNIQUE
