-- Leases the user's oldest unfinished write, even if it is not due; no row while it is leased, to keep the order.
update memory_write set lease_time = clock_timestamp() + make_interval(secs => $3), attempt_count = attempt_count + 1
where number = (
    select number from memory_write where space = $1 and user_id = $2 and end_time is null order by number limit 1)
  and space = $1 and user_id = $2 and end_time is null and (lease_time is null or lease_time < clock_timestamp())
returning *
