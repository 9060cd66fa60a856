-- Leases the user's oldest write that waits, whenever it is due; none while it is being worked on, as writes keep their order.
update memory_write set lease_time = clock_timestamp() + make_interval(secs => $3), attempt_count = attempt_count + 1
where number = (
    select number from memory_write
    where space = $1 and user_id = $2 and end_time is null and (lease_time is null or lease_time < clock_timestamp())
      and number = (
        select number from memory_write where space = $1 and user_id = $2 and end_time is null order by number limit 1)
    for update skip locked)
  and space = $1 and user_id = $2
returning *
