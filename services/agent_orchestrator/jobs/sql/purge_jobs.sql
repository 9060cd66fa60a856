-- Deletes jobs that ended more than $1 days ago and have no documents that wait for the graph.
delete from job where end_time < now() - make_interval(days => $1)
  and not exists (select from document where document.job_id = job.id)
