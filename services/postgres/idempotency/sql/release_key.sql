-- Forgets the claim of a call that has changed nothing.
delete from idempotency_key
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null
