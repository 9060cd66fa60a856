-- The space's model and revision, and whether a version with a future valid time has come into force.
select s.model_id, m.name, m.dimension, s.revision, s.next_change <= now() as change_due
from space_stats s join model m on m.id = s.model_id
where s.space = $1
