-- name: claim_key
-- Claims an idempotency key; no row if another call holds it, has succeeded, or was another request.
insert into idempotency_key (space, user_id, method, key, holder, digest, lease_time, expire_time)
values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), now() + make_interval(secs => $8))
on conflict (space, user_id, method, key) do update set
  holder = excluded.holder, digest = excluded.digest, lease_time = excluded.lease_time,
  expire_time = excluded.expire_time, response = null
where idempotency_key.expire_time < now()
  or idempotency_key.response is null and idempotency_key.lease_time <= now()
    and coalesce(idempotency_key.digest = excluded.digest, true)
returning true as granted, digest, response

-- name: complete_key
-- Records the response of a call, unless another call has claimed its key meanwhile.
update idempotency_key set digest = $6, response = $7
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null
returning true

-- name: get_key
-- The state of a key that was not granted.
select false as granted, digest, response from idempotency_key
where space = $1 and user_id = $2 and method = $3 and key = $4

-- name: purge_keys
-- Deletes keys that are no longer kept.
delete from idempotency_key where expire_time < now()

-- name: release_key
-- Forgets the claim of a call that has changed nothing.
delete from idempotency_key
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null

-- name: renew_key
-- Extends the lease of a call that runs.
update idempotency_key set lease_time = now() + make_interval(secs => $6)
where space = $1 and user_id = $2 and method = $3 and key = $4 and holder = $5 and response is null
