// All that ended a fact.
CREATE INDEX braid_fact_ending_by_fact IF NOT EXISTS FOR (x:FactEnding) ON (x.fact_uuid)
