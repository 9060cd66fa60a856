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
