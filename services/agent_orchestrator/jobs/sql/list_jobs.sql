-- A page of a space's jobs, latest first, before number $2, of the given states and kinds (empty: all).
select * from job
where space = $1 and number < $2 and state = any($3::text[]) and ($4::text[] = '{}' or kind = any($4))
order by number desc limit $5
