// Forgets the claim of a call that has changed nothing.
MATCH (k:BraidIdempotencyKey {id: $p.id}) WHERE k.holder = $p.holder AND k.response IS NULL
DELETE k
