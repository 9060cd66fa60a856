-- Pairs of memories by their weight, which decays with time, highest first.
select first_id, second_id, weight * 0.5 ^ (extract(epoch from now() - update_time) / $3::float8) as weight
from memory_co_access where space = $1 and user_id = $2
order by 3 desc, 1, 2 limit $4
