-- Leases conversation $1 of user $3 in space $2 to run $4 for $5 seconds, unless another run holds an unexpired lease.
update conversation
set active_run_id = $4, lease_expire_time = now() + make_interval(secs => $5)
where id = $1 and space = $2 and user_name = $3
  and (active_run_id is null or active_run_id = $4 or lease_expire_time < now())
returning id
