-- Records the response of a call, unless another call has claimed its key meanwhile.
update idempotency_key set digest = $6, response = $7
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null
returning true
