-- Reopens the ended uploads of a space with documents that are dead since $2: the documents to retry, and the jobs.
-- Documents that were deleted later remain dead.
with deleted as (
  select arguments ->> 'document_id' as document_id, max(number) as number
  from job where space = $1 and kind = 'delete' group by 1
), held as (
  select * from job
  where space = $1 and kind = 'upload' and end_time is not null
    and exists (select from job_input where job_id = job.id)
    and exists (select from job_failure where job_id = job.id and not again and create_time >= $2)
  order by id for no key update
), dead as (
  select failure.job_id, failure.position from job_failure failure
  join held on held.id = failure.job_id
  left join deleted
    on deleted.number > held.number
    and deleted.document_id = case when failure.position < 0 then named_document(held.arguments) else failure.document_id end
  where not failure.again and failure.create_time >= $2 and deleted.number is null
), marked as (
  update job_failure set again = true from dead
  where job_failure.job_id = dead.job_id and job_failure.position = dead.position and dead.position >= 0
  returning job_failure.job_id
), lifted as (
  delete from job_failure using dead
  where job_failure.job_id = dead.job_id and job_failure.position = dead.position and dead.position < 0
  returning job_failure.job_id
), counted as (
  select held.id, (select count(*) from marked where job_id = held.id)::integer as listed,
    exists (select from lifted where job_id = held.id) as whole
  from held where id in (select job_id from dead)
), reopened as (
  update job set
    state = 'queued', read = false, reached = greatest(reached, position), position = 0, takes = 0, retries = retries + 1,
    documents_failed = documents_failed - listed, waiting_for = '', result = null, end_time = null, update_time = now()
  from counted where job.id = counted.id
  returning listed + case when whole
    then greatest(documents_total - documents_searchable - documents_failed - listed, 1) else 0 end as documents
)
select coalesce(sum(documents), 0)::bigint as documents, count(*) as jobs from reopened
