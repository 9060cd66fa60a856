-- Marks run $1 as ended, and appends its last events.
with ended as (
  update agent_run set end_time = now() where id = $1 and end_time is null
)
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($2::integer[], $3::text[], $4::timestamptz[]) as e (number, event, create_time)
on conflict do nothing
