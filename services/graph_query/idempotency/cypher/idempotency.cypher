// name: claim_key
// Claims an idempotency key, unless another call holds it, has succeeded, or was another request.
MERGE (k:BraidIdempotencyKey {id: $p.id})
ON CREATE SET k.group_id = $p.space
SET k.claims = coalesce(k.claims, 0) + 1 // locks the node before its state is read
WITH k, k.holder IS NULL
  OR k.expires < timestamp()
  OR k.response IS NULL AND k.lease <= timestamp() AND coalesce(k.digest = $p.digest, true) AS granted
FOREACH (_ IN CASE WHEN granted THEN [1] ELSE [] END |
  SET k.holder = $p.holder, k.digest = $p.digest, k.response = null,
      k.lease = timestamp() + $p.lease, k.expires = timestamp() + $p.keep)
RETURN granted, k.digest AS digest, k.response AS response

// name: complete_key
// Records the response of a call, unless another call has claimed its key meanwhile.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
SET k.digest = $p.digest, k.response = $p.response
RETURN true AS completed

// name: purge_keys
// Deletes keys that are no longer kept, at most 10,000 at a time.
MATCH (k:BraidIdempotencyKey) WHERE k.expires < timestamp()
WITH k LIMIT 10000 DELETE k

// name: release_key
// Forgets the claim of a call that has changed nothing.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
DELETE k

// name: renew_key
// Extends the lease of a call that runs.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
SET k.lease = timestamp() + $p.lease
