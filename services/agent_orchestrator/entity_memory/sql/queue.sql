-- name: add_write
-- Queues a write; no row if one with the key exists, finished or not.
insert into memory_write (space, user_id, key, kind, conversation_id, message_id, payload) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (space, user_id, key) do nothing
returning number

-- name: claim_write
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

-- name: claim_write_of
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

-- name: dead_writes
-- The user's writes that failed for good, latest first, before the given number.
select number, kind, conversation_id, message_id, failure, attempt_count, create_time, end_time from memory_write
where space = $1 and user_id = $2 and end_time is not null and failure <> '' and payload is not null
  and ($3::bigint is null or number < $3)
order by number desc limit $4

-- name: earlier_turns
-- The user's messages in a conversation before a message, latest first. The answer has the run; the message stands right before it.
select m.text from conversation_message m
join conversation c on c.id = m.conversation_id
where c.space = $1 and c.user_name = $2 and c.id = $3 and m.role = 'user' and m.run_id is distinct from $4
  and m.number < coalesce((select min(number) - 1 from conversation_message where conversation_id = $3 and run_id = $4), 2147483647)
order by m.number desc limit $5

-- name: end_write
-- Ends a write and deletes its text. No row if it was ended or erased meanwhile.
update memory_write set end_time = now(), payload = null, lease_time = null, failure = ''
where space = $1 and user_id = $2 and number = $3 and end_time is null
returning number

-- name: give_up_write
-- Ends a write that failed for good and keeps its text for a retry. No row if it was ended or erased meanwhile.
update memory_write set end_time = now(), lease_time = null, failure = $4
where space = $1 and user_id = $2 and number = $3 and end_time is null
returning number

-- name: purge_writes
-- Deletes writes that ended more than the given number of days ago.
delete from memory_write where end_time < now() - make_interval(days => $1)

-- name: put_off_write
-- Releases a write, to be retried later.
update memory_write set lease_time = null, due_time = clock_timestamp() + make_interval(secs => $2), failure = $3
where number = $1 and end_time is null

-- name: renew_write
-- Renews the lease of a write in progress.
update memory_write set lease_time = clock_timestamp() + make_interval(secs => $4)
where space = $1 and user_id = $2 and number = $3 and end_time is null

-- name: retry_dead_writes
-- Queues the user's writes that failed for good again.
update memory_write set end_time = null, due_time = clock_timestamp(), attempt_count = 0, failure = ''
where space = $1 and user_id = $2 and end_time is not null and failure <> '' and payload is not null
returning number

-- name: set_owner
-- Sets the user whose rows the transaction sees, and the scope if it sees more.
select set_config('braid.space', $1, true), set_config('braid.user', $2, true), set_config('braid.memory_scope', $3, true)

-- name: writes_waiting
-- Whether the user has unfinished writes.
select exists (select from memory_write where space = $1 and user_id = $2 and end_time is null)
