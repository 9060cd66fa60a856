-- Claims up to $2 turns of a stage for a worker: the longest waiting, and those whose lease ($4 seconds) has expired.
with free as (
  select id from turn
  where stage = $1 and ready_time <= now() and (owner is null or renew_time < now() - $4::interval)
  order by id limit $2 for update skip locked
)
update turn set owner = $3, renew_time = now() from free where turn.id = free.id returning turn.id, turn.key
