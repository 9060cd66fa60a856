-- Erases the user's entities with their vectors, and counts them without the user's own entity.
with gone as (delete from memory_entity where space = $1 and user_id = $2 returning type)
select count(*) filter (where type <> 'self') from gone
