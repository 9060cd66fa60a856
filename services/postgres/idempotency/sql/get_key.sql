-- The state of a key that was not granted.
select false as granted, digest, response from idempotency_key
where space = $1 and user_id = $2 and method = $3 and key = $4
