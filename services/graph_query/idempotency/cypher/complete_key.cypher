// Records the response of a call, unless another call has claimed its key meanwhile.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
SET k.digest = $p.digest, k.response = $p.response
RETURN true AS completed
