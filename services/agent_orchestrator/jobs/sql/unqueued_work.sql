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
