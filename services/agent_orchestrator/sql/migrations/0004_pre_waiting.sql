-- Finds the jobs of a space that are told to wait, once the graph takes its documents again.
create index job_told_waiting on job (space) where waiting_for <> '';
