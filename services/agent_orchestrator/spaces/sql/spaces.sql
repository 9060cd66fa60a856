-- name: delete_space_rows
-- Deletes all rows of a space, except the job that deletes it and later ones; returns how many of each kind. Needs the scope of
-- the space.
with conversations as (delete from conversation where space = $1 returning message_count),
runs as (delete from agent_run where space = $1 and conversation_id is null),
past as (delete from past_memory where space = $1),
memories as (delete from memory where space = $1 returning id),
sessions as (delete from closed_session where space = $1),
leases as (delete from memory_session_lease where space = $1),
types as (delete from memory_type where space = $1),
relationships as (delete from memory_relationship where space = $1 returning delete_time),
entities as (delete from memory_entity where space = $1 returning type, delete_time),
writes as (delete from memory_write where space = $1),
keys as (delete from idempotency_key where space = $1),
seen as (delete from seen_graph where space = $1),
documents as (delete from document where space = $1),
expiries as (delete from document_expiry where space = $1),
imports as (delete from space_import where space = $1),
settings as (delete from space_setting where space = $1),
sources as (delete from source where space = $1),
jobs as (delete from job where space = $1 and number < $2 returning id)
select
  (select count(*) from conversations) as conversations,
  (select coalesce(sum(message_count), 0) from conversations) as messages,
  (select count(*) from memories) as memories,
  (select count(*) from entities where type <> 'self' and delete_time is null) as memory_entities,
  (select count(*) from relationships where delete_time is null) as memory_relationships,
  (select count(*) from jobs) as jobs

-- name: list_spaces
-- The first spaces after $1 with rows of any kind. Not limited to one space: for operators. Each step finds the next space of
-- each table by its index, in the database's order; the page is in code point order, like the tiers' pages.
with recursive found (space) as (
  select ''
  union all
  select least(
    (select min(space) from space_setting where space > f.space),
    (select min(space) from job where space > f.space and kind <> 'delete_space'),
    (select min(space) from conversation where space > f.space),
    (select min(space) from memory where space > f.space),
    (select min(space) from source where space > f.space),
    next_memory_space(f.space))
  from found f where f.space is not null
)
select space from found where space <> '' and space collate "C" > $1 order by space collate "C" limit $2

-- name: other_space_work
-- Number of a space's jobs that have not ended and of its documents that wait for the graph, without a deletion of the space.
select
  (select count(*) from job where space = $1 and kind <> 'delete_space' and state in ('queued', 'running') and number < $2)
  + (select count(*) from document where space = $1)

-- name: see_space
-- Lets the transaction see the rows of all users of a space.
select set_config('braid.space', $1, true), set_config('braid.user', '', true), set_config('braid.memory_scope', 'space', true)

-- name: space_titles
-- Titles and times of the creation of spaces for which something is set. For operators.
select space, title, create_time from space_setting where space = any($1::text[])

-- name: space_rows
-- Number of a space's rows of each kind, of its jobs that have not ended, and of its dead documents. Needs the scope of the space.
select
  (select count(*) from conversation where space = $1) as conversations,
  (select coalesce(sum(message_count), 0) from conversation where space = $1) as messages,
  (select count(*) from memory where space = $1 and ready) as memories,
  (select count(*) from memory_entity where space = $1 and type <> 'self' and delete_time is null) as memory_entities,
  (select count(*) from memory_relationship where space = $1 and delete_time is null) as memory_relationships,
  (select count(*) from job where space = $1) as jobs,
  (select count(*) from job where space = $1 and state in ('queued', 'running')) as unfinished,
  (select count(*) from job_failure where space = $1 and not again) as dead
