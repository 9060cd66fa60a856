// What ended a fact: each cause has one word.
CREATE CONSTRAINT braid_fact_ending IF NOT EXISTS FOR (x:FactEnding) REQUIRE (x.group_id, x.cause, x.fact_uuid) IS UNIQUE
