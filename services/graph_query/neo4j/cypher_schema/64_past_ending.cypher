// Which document's episode had ended a fact, once each: what it said of that is known of the past alone.
CREATE CONSTRAINT braid_past_ending IF NOT EXISTS FOR (x:BraidPastEnding) REQUIRE (x.group_id, x.document_id, x.fact_uuid, x.cause) IS UNIQUE
