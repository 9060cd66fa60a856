-- Leases the session to holder $4 for $5 seconds, unless another holder has an unexpired lease.
insert into memory_session_lease as held (space, user_id, session_id, holder, expire_time)
values ($1, $2, $3, $4, now() + make_interval(secs => $5))
on conflict (space, user_id, session_id) do update
set holder = excluded.holder, expire_time = excluded.expire_time
where held.expire_time < now()
returning true
