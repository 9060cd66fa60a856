-- Seconds since the oldest unfinished job was accepted, and since the job of the next document for the graph was.
select
  (select extract(epoch from now() - min(create_time)) from job where state in ('queued', 'running'))::float8 as job,
  (select extract(epoch from now() - j.create_time) from job j
   where j.id = (select job_id from document where not gone order by number limit 1))::float8 as document
