-- A user's inference that waits or runs.
select id from job
where space = $1 and user_name = $2 and kind = 'infer' and state in ('queued', 'running')
order by number limit 1
