-- name: claim_turns
-- Claims up to $2 turns of a stage for a worker: the longest waiting, and those whose lease ($4 seconds) has expired.
with free as (
  select id from turn
  where stage = $1 and ready_time <= now() and (owner is null or renew_time < now() - $4::interval)
  order by id limit $2 for update skip locked
)
update turn set owner = $3, renew_time = now() from free where turn.id = free.id returning turn.id, turn.key

-- name: end_turn
-- Ends a turn.
delete from turn where id = $1

-- name: lock_turn
-- Locks a turn if it still belongs to its worker; nobody claims, ends or requests it until the transaction ends.
select 1 from turn where id = $1 and owner = $2 for update

-- name: renew_turns
-- Renews leases, for $3 longer than usual; returns the turns that still belong to their worker.
update turn set renew_time = now() + $3::interval where id = any($1::bigint[]) and owner = $2 returning id

-- name: request_turn
-- Adds a turn unless it exists; in both cases it is locked until the transaction ends.
insert into turn (stage, key, ready_time) values ($1, $2, now() + $3::interval)
on conflict (stage, key) do update set key = excluded.key
