-- How many jobs wait or run over all spaces, and the bytes they hold.
select count(*) as jobs, coalesce(sum(size), 0)::bigint as bytes from job where state in ('queued', 'running')
