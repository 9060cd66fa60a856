-- name: add_events
-- Appends events to run $1.
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($2::integer[], $3::text[], $4::timestamptz[]) as e (number, event, create_time)
on conflict do nothing

-- name: add_run
-- Adds a run of user $3 in space $2, with a lease of $5 seconds, and its first events. Unless $9, nothing of it is saved.
with run as (
  insert into agent_run (id, space, user_name, conversation_id, lease_expire_time, kept)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5), $9)
)
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($6::integer[], $7::text[], $8::timestamptz[]) as e (number, event, create_time)

-- name: delete_run
-- Deletes run $1 with its events.
delete from agent_run where id = $1

-- name: end_run
-- Marks run $1 as ended, and appends its last events.
with ended as (
  update agent_run set end_time = now() where id = $1 and end_time is null
)
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($2::integer[], $3::text[], $4::timestamptz[]) as e (number, event, create_time)
on conflict do nothing

-- name: get_run
-- Whether run $1 of user $3 in space $2 has ended, or was interrupted: its lease expired before it ended.
select end_time is not null as ended, end_time is null and lease_expire_time < now() as interrupted, kept
from agent_run where id = $1 and space = $2 and user_name = $3

-- name: has_follower
-- Whether another process has read the events of run $1 within the last $2 seconds.
select coalesce(follow_time > now() - make_interval(secs => $2), false) from agent_run where id = $1

-- name: note_follower
-- Records that another process than the run's own reads the events of run $1.
update agent_run set follow_time = now() where id = $1 and end_time is null

-- name: purge_runs
-- Deletes runs, with their events, that began more than $1 days ago, and those that are not kept an hour after their start.
delete from agent_run where id in (
  select id from agent_run
  where create_time < now() - make_interval(days => $1) or not kept and create_time < now() - interval '1 hour'
  order by create_time limit 1000
)

-- name: renew_run
-- Renews the lease of run $1, and that of its conversation, for $2 seconds; returns whether the run must stop.
with renewed as (
  update agent_run set lease_expire_time = now() + make_interval(secs => $2)
  where id = $1 returning id, conversation_id, cancel_requested
), conversation_lease as (
  update conversation c set lease_expire_time = now() + make_interval(secs => $2)
  from renewed r where c.id = r.conversation_id and c.active_run_id = r.id
)
select cancel_requested from renewed

-- name: request_cancel
-- Asks the process of run $1 of user $3 in space $2 to stop it.
update agent_run set cancel_requested = true where id = $1 and space = $2 and user_name = $3 returning id

-- name: run_events
-- Events of run $1 after number $2, in order.
select number, event, create_time from agent_run_event where run_id = $1 and number > $2 order by number limit $3
