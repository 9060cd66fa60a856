-- Whether other turns of a stage wait for a worker.
select exists (select from pgqueuer where entrypoint = $1 and status = 'queued' and execute_after <= now())
