-- Appends events to run $1.
insert into agent_run_event (run_id, number, event, create_time)
select $1, e.number, e.event::jsonb, e.create_time
from unnest($2::integer[], $3::text[], $4::timestamptz[]) as e (number, event, create_time)
on conflict do nothing
