// The documents of a fact.
CREATE INDEX braid_fact_claim_by_fact IF NOT EXISTS FOR (c:FactClaim) ON (c.fact_uuid)
