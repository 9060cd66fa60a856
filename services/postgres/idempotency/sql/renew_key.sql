-- Extends the lease of a call that runs.
update idempotency_key set lease_time = now() + make_interval(secs => $6)
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null
