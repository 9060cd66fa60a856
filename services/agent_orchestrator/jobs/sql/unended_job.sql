-- The job of a kind that waits or runs in a space, of one user where $3 names one.
select * from job
where space = $1 and kind = $2 and ($3::text is null or user_name = $3) and state in ('queued', 'running')
order by number limit 1
