-- Tells those who watch jobs that some have changed, once a transaction.
create function notify_job_changed() returns trigger
language plpgsql as $$
begin
  notify braid_job_changed;
  return null;
end $$;

create trigger job_changed after update on job for each statement execute function notify_job_changed();
