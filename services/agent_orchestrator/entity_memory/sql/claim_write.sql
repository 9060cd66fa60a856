-- Leases the oldest due write whose user has no older unfinished one.
update memory_write set lease_time = clock_timestamp() + make_interval(secs => $1), attempt_count = attempt_count + 1
where number = (
  select w.number from memory_write w
  where w.end_time is null and w.due_time <= clock_timestamp() and (w.lease_time is null or w.lease_time < clock_timestamp())
    and not exists (
      select from memory_write o
      where o.space = w.space and o.user_id = w.user_id and o.end_time is null and o.number < w.number)
  order by w.number limit 1 for update skip locked)
returning *
