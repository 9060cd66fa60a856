-- A model of the space by name.
select m.id, m.name, m.dimension, m.id = s.model_id as active
from space_stats s
join model m on m.id = s.model_id or m.id in (select x.model_id from space_model x where x.space = $1)
where s.space = $1 and m.name = $2
