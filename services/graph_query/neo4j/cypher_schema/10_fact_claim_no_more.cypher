// The constraint before the one by claimant had an entry for each fact that was given with no document.
DROP CONSTRAINT braid_fact_claim IF EXISTS
