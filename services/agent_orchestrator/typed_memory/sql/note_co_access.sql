-- Counts memories as found together: adds one to each pair's weight, after its decay with time.
insert into memory_co_access as known (space, user_id, first_id, second_id, weight, update_time)
select $1, $2, a.id, b.id, 1, now()
from memory a join memory b on b.space = a.space and b.user_id = a.user_id and a.id < b.id
where a.space = $1 and a.user_id = $2 and a.id = any($3::uuid[]) and b.id = any($3::uuid[])
-- In one order, so that no two calls wait for each other, and without memories that are removed at this moment.
order by a.id, b.id for key share of a, b
on conflict (space, user_id, first_id, second_id) do update
set weight = 1 + known.weight * 0.5 ^ (extract(epoch from now() - known.update_time) / $4::float8), update_time = now()
