-- name: add_entity
-- Adds an entity; no row if a limit is reached ($13 for the conversation, $14 for the day).
insert into memory_entity (space, user_id, id, name, canonical_name, type, aliases, canonical_aliases, description, confidence,
  first_conversation_id, first_message_id, last_conversation_id, last_message_id)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11, $12
where ($11 = '' or $13 > (
    select count(*) from memory_entity
    where space = $1 and user_id = $2 and first_conversation_id = $11 and type <> 'self'))
  and $14 > (
    select count(*) from memory_entity
    where space = $1 and user_id = $2 and type <> 'self'
      and create_time >= date_trunc('day', now() at time zone 'utc') at time zone 'utc')
returning *

-- name: add_relationship
-- Adds a relationship; no row if the limit of the conversation ($11) is reached.
insert into memory_relationship (space, user_id, id, source_id, type, target_id, context, confidence,
  first_conversation_id, first_message_id, last_conversation_id, last_message_id, role)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $9, $10, $12
where $9 = '' or $11 > (
  select count(*) from memory_relationship where space = $1 and user_id = $2 and first_conversation_id = $9)
returning id

-- name: add_self
-- Adds the user's own entity.
insert into memory_entity (space, user_id, id, name, canonical_name, type, confidence)
values ($1, $2, $3, 'User', 'user', 'self', 1)

-- name: change_names
-- Changes an entity's names, counts and confidence.
update memory_entity set name = $4, canonical_name = $5, aliases = $6, canonical_aliases = $7, confidence = $8, mention_count = $9
where space = $1 and user_id = $2 and id = $3
returning *

-- name: delete_entity
-- Soft-deletes an entity and deletes its vectors, because the index contains only existing entities; $4 is the entity
-- that it was merged into, or null.
with gone as (
  delete from memory_entity_vector where space = $1 and user_id = $2 and entity_id = $3)
update memory_entity set delete_time = now(), merged_into = $4 where space = $1 and user_id = $2 and id = $3

-- name: delete_relationship
-- Soft-deletes a relationship; an ended one is no history any more.
update memory_relationship set delete_time = now(), ended = false
where space = $1 and user_id = $2 and id = $3 and (delete_time is null or ended)
returning id

-- name: delete_relationships_of
-- Soft-deletes the relationships of an entity, with the time of the transaction; ended ones are no history any more.
update memory_relationship set delete_time = coalesce(delete_time, now()), ended = false
where space = $1 and user_id = $2 and (delete_time is null or ended) and (source_id = $3 or target_id = $3)
returning id

-- name: end_relationship
-- Ends a relationship now: it is history. $4 is the one that took its place, or null.
update memory_relationship set delete_time = now(), ended = true, ended_by = $4
where space = $1 and user_id = $2 and id = $3 and delete_time is null
returning id

-- name: ended_relationships
-- Relationships of some entities that a later statement has ended, the last ended first.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.ended and (r.source_id = any ($3::uuid[]) or r.target_id = any ($3::uuid[]))
order by r.delete_time desc, r.id
limit $4

-- name: entities_by_id
-- Entities by id, without deleted ones.
select * from memory_entity
where space = $1 and user_id = $2 and id = any ($3::uuid[]) and delete_time is null and type <> 'self'

-- name: entities_without_vector
-- Entities of a space, or of one of its users, without a vector of a model.
select e.space, e.user_id, e.id, e.name, e.type, e.aliases, e.description from memory_entity e
where e.space = $1 and ($2::text is null or e.user_id = $2) and e.type <> 'self' and e.delete_time is null
  and not exists (
    select from memory_entity_vector v
    where v.space = e.space and v.user_id = e.user_id and v.model = $3 and v.entity_id = e.id)
order by e.user_id, e.id
limit $4

-- name: entity_names
-- Names of the most recently mentioned entities; of the given types, if any.
select id, name, canonical_name, aliases, canonical_aliases, type from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (cardinality($3::text[]) = 0 or type = any ($3))
order by last_mention_time desc, id desc
limit $4

-- name: erase_entities
-- Erases the user's entities with their vectors, and counts them without the user's own entity.
with gone as (delete from memory_entity where space = $1 and user_id = $2 returning type)
select count(*) filter (where type <> 'self') from gone

-- name: erase_relationships
-- Erases the user's relationships and counts them.
with gone as (delete from memory_relationship where space = $1 and user_id = $2 returning 1) select count(*) from gone

-- name: erase_responses
-- Erases the responses that are kept for the owner's repeated calls.
delete from idempotency_key where space = $1 and user_id = $2

-- name: erase_writes
-- Erases the user's writes and counts them.
with gone as (delete from memory_write where space = $1 and user_id = $2 returning 1) select count(*) from gone

-- name: export_entities
-- Every entity of the user after an id, ordered by id, including deleted ones.
select * from memory_entity
where space = $1 and user_id = $2 and type <> 'self' and ($3::uuid is null or id > $3) order by id limit $4

-- name: export_relationships
-- Every relationship of the user after an id, ordered by id, including deleted ones.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and ($3::uuid is null or r.id > $3) order by r.id limit $4

-- name: find_entity
-- The user's entities with a name or an alias; of one type if it is not null. Names come before aliases.
select * from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (canonical_name = $3 or $3 = any (canonical_aliases)) and ($4::text is null or type = $4)
order by canonical_name = $3 desc, mention_count desc, id
limit 1

-- name: find_relationship
-- A relationship by its ends and type.
select * from memory_relationship
where space = $1 and user_id = $2 and source_id = $3 and type = $4 and target_id = $5 and delete_time is null

-- name: fold_relationship
-- Adds the evidence of one relationship to another.
update memory_relationship set confidence = greatest(confidence, $4), mention_count = mention_count + $5
where space = $1 and user_id = $2 and id = $3

-- name: forget_other_models
-- Deletes the vectors of a space that are of other models.
delete from memory_entity_vector where space = $1 and model <> $2

-- name: forget_vectors
-- Deletes an entity's vectors, because its text has changed.
delete from memory_entity_vector where space = $1 and user_id = $2 and entity_id = $3

-- name: get_entity
-- An entity of the user by id, deleted or not; locked for the rest of the transaction.
select * from memory_entity where space = $1 and user_id = $2 and id = $3 and type <> 'self' for update

-- name: index_entity_vectors
-- Creates the index for vectors of a dimension if it does not exist.
select index_entity_vectors($1)

-- name: list_entities
-- Entities after a position, most recently mentioned first; of the given types, if any.
select * from memory_entity
where space = $1 and user_id = $2 and delete_time is null and type <> 'self'
  and (cardinality($3::text[]) = 0 or type = any ($3))
  and ($4::timestamptz is null or (last_mention_time, id) < ($4, $5::uuid))
order by last_mention_time desc, id desc
limit $6

-- name: lock_user
-- Serializes writers of a user's memory, so that limits are exact and names are resolved once.
select pg_advisory_xact_lock(hashtextextended('entity memory ' || $1 || ' ' || $2, 0))

-- name: move_relationship
-- Changes the ends of a relationship.
update memory_relationship set source_id = $4, target_id = $5 where space = $1 and user_id = $2 and id = $3

-- name: nearest_entities
-- Entities by the cosine similarity of their vectors to one of the same model: exact, because all of the user's vectors
-- are compared. The HNSW index is over another expression than the order here, so no plan can use it.
select v.entity_id as id, 1 - (v.embedding <=> $4::text::halfvec) as similarity
from memory_entity_vector v
join memory_entity e on e.space = $1 and e.user_id = $2 and e.id = v.entity_id
where v.space = $1 and v.user_id = $2 and v.model = $3 and e.delete_time is null
  and (cardinality($5::text[]) = 0 or e.type = any ($5))
order by v.embedding <=> $4::text::halfvec, v.entity_id
limit $6

-- name: neighbors
-- The relationships of some entities with their ends, highest confidence first; of the given types, if any.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.delete_time is null
  and (cardinality($4::text[]) = 0 or r.type = any ($4))
  and (r.source_id = any ($3::uuid[]) or r.target_id = any ($3::uuid[]))
order by r.confidence desc, r.id
limit $5

-- name: put_vector
-- Stores an entity's vector of a model.
insert into memory_entity_vector (space, user_id, model, entity_id, embedding) values ($1, $2, $3, $4, $5::text::halfvec)
on conflict (space, user_id, model, entity_id) do update set embedding = excluded.embedding

-- name: reinforce_entity
-- Adds evidence to an entity.
update memory_entity set aliases = $4, canonical_aliases = $5, description = $6, confidence = $7,
  mention_count = mention_count + 1, last_conversation_id = $8, last_message_id = $9, last_mention_time = now()
where space = $1 and user_id = $2 and id = $3
returning *

-- name: reinforce_relationship
-- Adds evidence to a relationship.
update memory_relationship set context = $4, confidence = $5, mention_count = mention_count + 1,
  last_conversation_id = $6, last_message_id = $7, last_mention_time = now(), role = case when $8 = '' then role else $8 end
where space = $1 and user_id = $2 and id = $3

-- name: relationships
-- Relationships with their ends after a position, most recently mentioned first; of types and of an entity, if given.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.delete_time is null
  and (cardinality($3::text[]) = 0 or r.type = any ($3))
  and ($4::uuid is null or r.source_id = $4 or r.target_id = $4)
  and ($5::timestamptz is null or (r.last_mention_time, r.id) < ($5, $6::uuid))
order by r.last_mention_time desc, r.id desc
limit $7

-- name: relationships_as_of
-- As relationships, but those that held at an instant ($8), as far as it had been said by then.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.create_time <= $8
  and (r.delete_time is null or r.ended and r.delete_time > $8)
  and (cardinality($3::text[]) = 0 or r.type = any ($3))
  and ($4::uuid is null or r.source_id = $4 or r.target_id = $4)
  and ($5::timestamptz is null or (r.last_mention_time, r.id) < ($5, $6::uuid))
order by r.last_mention_time desc, r.id desc
limit $7

-- name: relationships_by_id
-- Relationships with their ends, by id.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.id = any ($3::uuid[])

-- name: relationships_of
-- The relationships of an entity as they are stored.
select * from memory_relationship
where space = $1 and user_id = $2 and delete_time is null and (source_id = $3 or target_id = $3)
order by create_time, id

-- name: replaced_relationships
-- The user's relationships that another one of a role ($3, its words) or of a type, where there is no role, takes the place of.
select r.*, s.name as source_name, s.type as source_type, t.name as target_name, t.type as target_type
from memory_relationship r
join memory_entity s on s.space = $1 and s.user_id = $2 and s.id = r.source_id
join memory_entity t on t.space = $1 and t.user_id = $2 and t.id = r.target_id
where r.space = $1 and r.user_id = $2 and r.delete_time is null and s.type = 'self'
  and case when cardinality($3::text[]) > 0 then lower(r.role) = any ($3) else r.type = $4 end

-- name: resume_replaced
-- Before a relationship ($3) is deleted: what it had taken the place of holds again. If it has ended itself, that has ended as
-- well, by what took its place, if anything did. Nothing changes if one of the ends is gone.
with deleted as (
  select ended, ended_by from memory_relationship
  where space = $1 and user_id = $2 and id = $3 and (delete_time is null or ended)
)
update memory_relationship r set
  ended_by = deleted.ended_by, ended = deleted.ended, delete_time = case when deleted.ended then r.delete_time end
from deleted
where r.space = $1 and r.user_id = $2 and r.ended_by = $3 and r.ended
  and not exists (
    select from memory_entity e
    where e.space = $1 and e.user_id = $2 and e.id in (r.source_id, r.target_id) and e.delete_time is not null)
  and not exists (
    select from memory_relationship o
    where o.space = $1 and o.user_id = $2 and o.source_id = r.source_id and o.type = r.type and o.target_id = r.target_id
      and o.delete_time is null)
returning r.id, r.ended

-- name: restore_entity
-- Restores a deleted entity.
update memory_entity set delete_time = null where space = $1 and user_id = $2 and id = $3 returning *

-- name: restore_relationships_of
-- Restores the relationships that were deleted together with an entity, if both ends exist again.
update memory_relationship r set delete_time = null
where r.space = $1 and r.user_id = $2 and (r.source_id = $3 or r.target_id = $3) and r.delete_time = $4
  and not exists (
    select from memory_entity e
    where e.space = $1 and e.user_id = $2 and e.id in (r.source_id, r.target_id) and e.delete_time is not null)
  and not exists (
    select from memory_relationship o
    where o.space = $1 and o.user_id = $2 and o.source_id = r.source_id and o.type = r.type and o.target_id = r.target_id
      and o.delete_time is null)
returning r.id

-- name: self_entity
-- The id of the user's own entity.
select id from memory_entity where space = $1 and user_id = $2 and type = 'self'

-- name: usage
-- How much of their limits a conversation and the day have used.
select
  (select count(*) from memory_entity
   where space = $1 and user_id = $2 and first_conversation_id = $3 and type <> 'self') as conversation_entities,
  (select count(*) from memory_relationship
   where space = $1 and user_id = $2 and first_conversation_id = $3) as conversation_relationships,
  (select count(*) from memory_entity
   where space = $1 and user_id = $2 and type <> 'self'
     and create_time >= date_trunc('day', now() at time zone 'utc') at time zone 'utc') as day_entities
