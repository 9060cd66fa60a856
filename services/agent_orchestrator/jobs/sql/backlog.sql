-- Number of waiting and running jobs of each space, and the bytes of those that are still to be read.
select space, count(*) as jobs, coalesce(sum(size) filter (where not read), 0)::bigint as bytes
from job where state in ('queued', 'running') group by space
