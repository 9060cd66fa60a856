-- Deletes runs, with their events, that began more than $1 days ago, and those that are not kept an hour after their start.
delete from agent_run where id in (
  select id from agent_run
  where create_time < now() - make_interval(days => $1) or not kept and create_time < now() - interval '1 hour'
  order by create_time limit 1000
)
