-- When a process that does not work on the run has last read its events for a caller: the run is not abandoned then.
alter table agent_run add column follow_time timestamptz;
