// Before braid_fact_claimant: by whom claims are found, for those that somebody made.
MATCH (c:FactClaim) WHERE c.document_id <> '' AND c.claimant IS NULL
CALL (c) {
  SET c.claimant = c.document_id
} IN TRANSACTIONS OF 1000 ROWS
