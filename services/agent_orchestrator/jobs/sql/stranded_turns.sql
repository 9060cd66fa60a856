-- Spaces and jobs with work but without a turn, by stage.
select 'search' as stage, space as key from (
  select distinct space from job
  where kind = 'upload' and not read and state in ('queued', 'running') and number < first_deletion(space)
) reading where not exists (select from pgqueuer where dedupe_key = 'search:' || space and status in ('queued', 'picked'))
union all
select 'graph', space from (
  select distinct space from document where not waits_for_deletion(space, document_id, number)
) waiting
where not exists (select from pgqueuer where dedupe_key = 'graph:' || space and status in ('queued', 'picked'))
union all
select 'task', id::text from job
where kind <> 'upload' and state in ('queued', 'running')
  and not exists (select from pgqueuer where dedupe_key = 'task:' || job.id::text and status in ('queued', 'picked'))
