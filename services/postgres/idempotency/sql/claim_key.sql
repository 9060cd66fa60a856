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
