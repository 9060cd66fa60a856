-- Adds a run of user $3 in space $2, with a lease of $5 seconds, and its first events. Unless $9, nothing of it is saved.
with run as (
  insert into agent_run (id, space, user_name, conversation_id, lease_expire_time, kept)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5), $9)
)
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($6::integer[], $7::text[], $8::timestamptz[]) as e (number, event, create_time)
