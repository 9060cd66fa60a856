-- name: add_documents
-- Queues searchable documents for the graph, in this order.
insert into document (space, job_id, position, document_id, chunks, episodes)
select $1, told.job_id, told.position, told.document_id, told.chunks, told.episodes
from unnest($2::uuid[], $3::int[], $4::text[], $5::int[], $6::bytea[]) with ordinality
  as told (job_id, position, document_id, chunks, episodes, place)
order by told.place

-- name: set_expiries
-- Sets when searchable documents are deleted automatically, or that they are not, as the upload says that was read last.
with told as (
  select distinct on (t.document_id) t.document_id, (j.arguments ->> 'expire_time')::timestamptz as expire_time
  from unnest($2::uuid[], $3::text[]) with ordinality as t (job_id, document_id, place) join job j on j.id = t.job_id
  order by t.document_id, t.place desc
), kept as (
  delete from document_expiry e using told
  where e.space = $1 and e.document_id = told.document_id and told.expire_time is null
)
insert into document_expiry (space, document_id, expire_time)
select $1, document_id, expire_time from told where expire_time is not null
on conflict (space, document_id) do update set expire_time = excluded.expire_time

-- name: add_failures
-- Lists documents that could not be ingested, with the reason; a later reason replaces an earlier one.
insert into job_failure (job_id, position, space, document_id, stage, reason)
select told.job_id, told.position, $1, told.document_id, $2, told.reason
from unnest($3::uuid[], $4::int[], $5::text[], $6::text[]) as told (job_id, position, document_id, reason)
on conflict (job_id, position) do update
  set document_id = excluded.document_id, stage = excluded.stage, reason = excluded.reason, again = false, create_time = now()

-- name: add_warnings
-- Records what was not taken of documents. A document that is read again replaces none of its warnings.
insert into job_warning (job_id, position, number, document_id, reason, notice, place)
select * from unnest($1::uuid[], $2::int[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[])
on conflict do nothing

-- name: claim_uploads
-- Claims the next uploads of a space, except $2, with their unread bytes: at most $3, and $4 bytes or one upload.
-- Uploads accepted after a deletion wait for it.
with next as (
  select id, number, takes, sum(size) over (order by number) - size as before
  from (
    select id, number, takes, size from job
    where space = $1 and kind = 'upload' and not read and state in ('queued', 'running') and id <> all($2::uuid[])
      and number < first_deletion($1)
    order by number limit $3
  ) waiting
), chosen as (
  -- An upload that crashed its worker before is claimed alone.
  select id from next
  where (before < $4 and not exists (select from next worse where worse.takes >= $5 and worse.number <= next.number))
     or number = (select min(number) from next)
), held as (
  select id from job where id in (select id from chosen) order by id for no key update
), begun as (
  update job set state = 'running', takes = takes + 1, start_time = coalesce(start_time, now()), update_time = now()
  from held where job.id = held.id returning job.*
), taken as (
  select *, case when read_position = position then read_offset else 0 end as begin_offset,
    case when read_position = position then read_line else 0 end as begin_line
  from begun
)
select taken.*, substring(job_input.data from begin_offset + 1) as data,
  (select coalesce(array_agg(position), '{}') from job_failure where job_id = taken.id and again) as again
from taken join job_input on job_input.job_id = taken.id order by taken.number

-- name: clear_retried_failures
-- Removes documents that were retried with success from the failures of jobs.
delete from job_failure using unnest($1::uuid[], $2::int[]) as told (id, position)
where job_failure.job_id = told.id and again and job_failure.position < told.position

-- name: clear_waiting_reason
-- Clears the waiting reason of a space's jobs.
with held as (
  select id from job
  where space = $1 and waiting_for <> '' and state in ('queued', 'running')
  order by id for no key update
)
update job set waiting_for = '', update_time = now() from held where job.id = held.id

-- name: delete_documents
-- Removes documents from the graph's queue; those deleted meanwhile stay, so that they are removed from the graph.
delete from document where number = any($1::bigint[]) and (not gone or number = any($2::bigint[])) returning number

-- name: delete_inputs
-- Deletes the input of jobs that never have to be read again.
delete from job_input using job
where job.id = job_input.job_id and job.id = any($1::uuid[]) and job.state = 'succeeded' and job.documents_failed = 0

-- name: end_jobs
-- Ends uploads whose documents are all in the graph or listed as failed. If all of them failed, the job has failed.
update job set
  state = case when documents_failed > 0 and documents_failed >= documents_total then 'failed' else 'succeeded' end,
  waiting_for = '', end_time = now(), update_time = now()
where id = any($1::uuid[]) and kind = 'upload' and read and state in ('queued', 'running')
  and documents_graph_ready + documents_failed >= documents_total
returning id, documents_failed

-- name: fail_jobs
-- Ends jobs before their documents are done.
with held as (
  select id from job where id = any($1::uuid[]) and state in ('queued', 'running') order by id for no key update
)
update job set state = 'failed', read = true, waiting_for = '', end_time = now(), update_time = now()
from held where job.id = held.id returning job.id

-- name: has_documents
-- Whether a space has documents that may be added to the graph now.
select exists (
  select from document where space = $1 and not waits_for_deletion(space, document_id, number)
)

-- name: has_uploads
-- Whether a space has uploads that may be read now.
select exists (
  select from job where space = $1 and kind = 'upload' and not read and state in ('queued', 'running')
    and number < first_deletion($1)
)

-- name: lock_jobs
-- Locks and returns the jobs that were not retried since they were claimed: no retry until the transaction ends.
select job.id from job join unnest($1::uuid[], $2::int[]) as told (id, retries) on told.id = job.id
where job.retries = told.retries
order by job.id for no key update of job

-- name: next_documents
-- The next documents of a space for the graph, in order: at most $2 documents and $3 chunks, or one document.
select * from (
  select *, sum(chunks) over (order by number) - chunks as before
  from (
    select * from document where space = $1 and not waits_for_deletion(space, document_id, number)
    order by number limit $2
  ) waiting
) counted
where before < $3 order by number

-- name: note_seen_graph
-- Records a revision of a space's graph, unless a higher one was recorded.
insert into seen_graph (space, revision) values ($1, $2)
on conflict (space) do update set revision = excluded.revision, update_time = now()
where seen_graph.revision < excluded.revision

-- name: others_waiting
-- Whether other turns of a stage wait for a worker.
select exists (select from turn where stage = $1 and owner is null and ready_time <= now())

-- name: purge_jobs
-- Deletes jobs that ended more than $1 days ago and have no documents that wait for the graph.
delete from job where end_time < now() - make_interval(days => $1)
  and not exists (select from document where document.job_id = job.id)

-- name: record_attempt
-- Records how often in a row a single document has failed.
update document set attempts = $2 where number = $1

-- name: record_graph_ready
-- Records how many more documents of jobs are in the graph, and how many it refused. Locks the jobs in id order, like
-- all statements that change several: two stages of a space work on the same jobs.
with held as (
  select id from job where id = any($1::uuid[]) order by id for no key update
)
update job set
  documents_graph_ready = documents_graph_ready + told.ready, documents_failed = documents_failed + told.failed,
  waiting_for = '', update_time = now(),
  graph_ready_time = case when told.ready > 0 then now() else graph_ready_time end
from held join unnest($1::uuid[], $2::int[], $3::int[]) as told (id, ready, failed) on told.id = held.id
where job.id = held.id

-- name: record_read
-- Records how far jobs were read, and the outcome of their documents; a job that has ended meanwhile remains ended.
update job set
  position = told.position, read_offset = told.read_offset, read_line = told.read_line, read_position = told.position, read = job.read or told.read, takes = 0, waiting_for = '', update_time = now(),
  documents_total = case when told.read then told.total else job.documents_total end,
  documents_searchable = documents_searchable + told.searchable,
  documents_unchanged = documents_unchanged + told.unchanged,
  documents_failed = documents_failed + told.failed,
  chunks_written = chunks_written + told.chunks,
  warning_count = warning_count + told.warnings,
  searchable_time = case when told.searchable > 0 then now() else searchable_time end
from unnest($1::uuid[], $2::int[], $3::bool[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
    $9::int[], $10::int[], $11::int[])
  as told (id, position, read, total, searchable, unchanged, failed, chunks, read_offset, read_line, warnings)
where job.id = told.id

-- name: release_jobs
-- Releases claimed jobs that did not cause the interruption.
with held as (
  select id from job where id = any($1::uuid[]) order by id for no key update
)
update job set takes = 0 from held where job.id = held.id

-- name: set_waiting_reason
-- Records why the jobs of a space cannot continue now.
with held as (
  select id from job
  where space = $1 and state in ('queued', 'running') and kind = 'upload' and waiting_for <> $2
  order by id for no key update
)
update job set waiting_for = $2, update_time = now() from held where job.id = held.id

-- name: unchanged_jobs
-- The jobs that have not ended and were not retried since they were claimed.
select job.id from job join unnest($1::uuid[], $2::int[]) as told (id, retries) on told.id = job.id
where job.retries = told.retries and job.state in ('queued', 'running')

-- name: unqueued_work
-- Spaces and jobs with work but without a turn, by stage.
select 'search' as stage, space as key from (
  select distinct space from job
  where kind = 'upload' and not read and state in ('queued', 'running') and number < first_deletion(space)
) reading where not exists (select from turn where stage = 'search' and key = space)
union all
select 'graph', space from (
  select distinct space from document where not waits_for_deletion(space, document_id, number)
) waiting
where not exists (select from turn where stage = 'graph' and key = space)
union all
select 'task', id::text from job
where kind <> 'upload' and state in ('queued', 'running')
  and not exists (select from turn where stage = 'task' and key = job.id::text)
