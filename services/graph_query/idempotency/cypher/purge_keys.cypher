// Deletes keys that are no longer kept, at most 10,000 at a time.
MATCH (k:BraidIdempotencyKey) WHERE k.expires < timestamp()
WITH k LIMIT 10000 DELETE k
