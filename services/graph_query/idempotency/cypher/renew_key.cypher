// Extends the lease of a call that runs.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
SET k.lease = timestamp() + $p.lease
