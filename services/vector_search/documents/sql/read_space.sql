-- The space's model and revision, whether a version with a future valid time has come into force since, and for how
-- many more seconds writes are on hold.
select s.model_id, m.name, m.dimension, s.revision, s.next_change <= now() as change_due,
       extract(epoch from s.writes_held_until - clock_timestamp())::float8 as held_seconds
from space_stats s join model m on m.id = s.model_id
where s.space = $1
