// Finds the documents that had claimed a fact.
CREATE INDEX braid_past_claim_by_fact IF NOT EXISTS FOR (c:BraidPastClaim) ON (c.fact_uuid)
