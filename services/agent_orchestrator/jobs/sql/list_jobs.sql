-- A page of a space's jobs, the latest first, before number $2, of the given states and kinds.
select * from job
where space = $1 and number < $2 and state = any($3::text[]) and ($4 = '' or kind = $4)
order by number desc limit $5
