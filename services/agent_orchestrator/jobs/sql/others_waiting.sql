-- Whether other turns of a stage wait for a worker.
select exists (select from turn where stage = $1 and owner is null and ready_time <= now())
