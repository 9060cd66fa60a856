-- Whether a job that is not an upload has not ended.
select exists (select from job where id = $1 and state in ('queued', 'running'))
