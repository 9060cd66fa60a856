-- The waiting or running job of a kind in a space; of one user if $3 is not null.
select * from job
where space = $1 and kind = $2 and ($3::text is null or user_name = $3) and state in ('queued', 'running')
order by number limit 1
