-- name: add_input
-- Stores the bytes of an upload.
insert into job_input (job_id, data) values ($1, $2)

-- name: add_job
-- Accepts a job; no row if it was accepted before.
insert into job (id, space, user_name, request_id, kind, arguments, input_hash, size, documents_total, read)
values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $5 <> 'upload')
on conflict do nothing
returning *

-- name: backlog
-- Number of waiting and running jobs of each space, and the bytes of those that are still to be read.
select space, count(*) as jobs, coalesce(sum(size) filter (where not read), 0)::bigint as bytes
from job where state in ('queued', 'running') group by space

-- name: cancel_job
-- Ends a job that has not ended, except a deletion, which must complete. Searchable documents still go to the graph.
update job set state = 'cancelled', read = true, waiting_for = '', end_time = now(), update_time = now()
where space = $1 and id = $2 and kind not in ('delete', 'delete_space') and state in ('queued', 'running') returning *

-- name: count_dead
-- The number of a space's failures since a time, without those that are being retried.
select count(*) from job_failure where space = $1 and not again and create_time >= $2

-- name: delete_job_failure
-- Deletes the reason why a whole job failed.
delete from job_failure where job_id = $1 and position < 0

-- name: get_job
-- A job of a space.
select * from job where space = $1 and id = $2

-- name: get_jobs
-- Jobs by id, regardless of space: for watchers that were authorized before.
select * from job where id = any($1::uuid[])

-- name: has_input
-- Whether the bytes of an upload are still stored.
select exists (select from job_input where job_id = $1)

-- name: ingestion_lag
-- Seconds since the oldest unfinished job was accepted, and since the job of the next document for the graph was.
select
  (select extract(epoch from now() - min(create_time)) from job where state in ('queued', 'running'))::float8 as job,
  (select extract(epoch from now() - j.create_time) from job j
   where j.id = (select job_id from document where not gone order by number limit 1))::float8 as document

-- name: job_failures
-- The first failures of jobs, in the order of their uploads: at most $2 for each job.
select failure.job_id, failure.position, failure.document_id, failure.stage, failure.reason
from unnest($1::uuid[]) as wanted (id)
cross join lateral (
  select * from job_failure where job_id = wanted.id and not again order by position limit $2
) failure

-- name: job_states
-- Number of jobs of all spaces by state: those that wait or run, and those that ended within a day.
select state, count(*) as jobs from job
where state in ('queued', 'running') or end_time > now() - interval '1 day'
group by state

-- name: job_warnings
-- The first warnings of jobs, in the order of their uploads: at most $2 for each job.
select warning.job_id, warning.position, warning.document_id, warning.reason, warning.notice, warning.place
from unnest($1::uuid[]) as wanted (id)
cross join lateral (
  select * from job_warning where job_id = wanted.id order by position, number limit $2
) warning

-- name: document_limit
-- How many documents the space may contain (null: any), and how many of its uploads are accepted and not stored yet.
select max_documents as allowed, (
  select coalesce(sum(greatest(documents_total - documents_searchable - documents_unchanged - documents_failed, 0)), 0) from job
  where space = $1 and kind = 'upload' and state in ('queued', 'running')
)::bigint as waiting
from space_setting where space = $1 and max_documents is not null

-- name: job_limits
-- Whether an import into the space has not ended, how many bytes of uploads it takes in a day (null: any), and how many it has
-- taken today in UTC.
select exists (select from space_import where space = $1) as imported, s.upload_bytes_per_day as allowed,
  case when s.upload_bytes_per_day is not null then (
    select coalesce(sum(size), 0) from job
    where space = $1 and kind = 'upload' and create_time >= date_trunc('day', now(), 'UTC')
  ) end::bigint as used
from (select) as once left join space_setting s on s.space = $1

-- name: list_failures
-- A page of a space's documents that could not be ingested, latest first.
select * from job_failure
where space = $1 and not again and (create_time, job_id, position) < ($2, $3, $4)
order by create_time desc, job_id desc, position desc limit $5

-- name: list_jobs
-- A page of a space's jobs, latest first, before number $2, of the given states and kinds (empty: all).
select * from job
where space = $1 and number < $2 and state = any($3::text[]) and ($4::text[] = '{}' or kind = any($4))
order by number desc limit $5

-- name: lock_kind
-- Prevents other calls from starting a job of this kind in the space until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('braid.job.' || $1 || '.' || $2, 0))

-- name: mark_document_deleted
-- Marks a document as deleted: its content that waits for the graph is removed from the graph instead.
update document set gone = true where space = $1 and document_id = $2 and not gone

-- name: retry_dead
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

-- name: retry_failures
-- Marks a job's failed documents to be retried.
update job_failure set again = true where job_id = $1 and position >= 0 and not again returning position

-- name: retry_job
-- Reopens an ended job; $3 of its documents were listed as failed. A task with listed failures starts again.
update job set
  state = 'queued', read = kind <> 'upload', reached = greatest(reached, position), position = 0, takes = 0,
  retries = retries + 1, documents_failed = documents_failed - $3, waiting_for = '', result = null,
  progress = case when $3 > 0 then null else progress end,
  end_time = null, update_time = now()
where space = $1 and id = $2 and end_time is not null
returning *

-- name: same_job
-- The job that was accepted before: with id $2, or by a former release with the same request and input.
select * from job where space = $1 and (id = $2 or request_id <> '' and request_id = $3 and input_hash = $4)
order by id = $2 desc limit 1

-- name: superseded
-- Whether a later job may have written or deleted a document that a retry of a job would write or delete.
with old as (
  select * from job where space = $1 and id = $2
), again as (
  select failure.document_id from job_failure failure join old on old.id = failure.job_id
  where old.kind = 'upload' and failure.position >= 0 and not failure.again
  union all
  -- All documents of an upload that failed as a whole: null means any document.
  select named_document(arguments) from old
  where kind = 'upload' and exists (select from job_failure where job_id = old.id and position < 0)
  union all
  select arguments ->> 'document_id' from old where kind = 'delete'
)
select exists (
  select from old
  join job later on later.space = old.space and later.number > old.number
  cross join again
  where later.kind = 'delete' and coalesce(later.arguments ->> 'document_id' = again.document_id, true)
     -- A job that ended without a searchable document has written nothing.
     or later.kind = 'upload' and (later.end_time is null or later.documents_searchable > 0)
        and may_bring(later.arguments, again.document_id)
)

-- name: unended_job
-- The waiting or running job of a kind in a space; of one user if $3 is not null.
select * from job
where space = $1 and kind = $2 and ($3::text is null or user_name = $3) and state in ('queued', 'running')
order by number limit 1
