-- Deletes runs, with their events, that began more than $1 days ago.
delete from agent_run where id in (
  select id from agent_run where create_time < now() - make_interval(days => $1) order by create_time limit 1000
)
