-- How many jobs wait or run over all spaces, and the bytes of those that are still to be read.
select count(*) as jobs, coalesce(sum(size) filter (where not read), 0)::bigint as bytes from job where state in ('queued', 'running')
