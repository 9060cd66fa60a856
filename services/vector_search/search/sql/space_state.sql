-- The space's revision, whether no version with a future valid time has come into force since, and its model.
select s.revision, s.next_change > now() as flags_current, m.name as space_model, m.dimension as space_dimension
from space_stats s left join model m on m.id = s.model_id and s.chunks > 0
where s.space = $1
