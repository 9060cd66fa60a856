-- name: activate_model
-- Makes a model the space's own; returns the new revision, null if vectors are missing.
select activate_model($2, $1)

-- name: add_model
-- Allows a space to store vectors of a second model.
insert into space_model (space, model_id)
select $1, $2 where not exists (select from space_stats s where s.space = $1 and s.model_id = $2)
on conflict do nothing

-- name: fill_embeddings
-- Stores vectors of a model that is being added; returns how many were stored.
select fill_embeddings($2, $1, $3, $4, $5)

-- name: find_model
-- A model of the space by name.
select m.id, m.name, m.dimension, m.id = s.model_id as active
from space_stats s
join model m on m.id = s.model_id or m.id in (select x.model_id from space_model x where x.space = $1)
where s.space = $1 and m.name = $2

-- name: get_query_embedding
-- A query's vector by its digest; its use is recorded at most once an hour.
with used as (
  update query_embedding set used_at = now()
  where space = $1 and digest = $2 and used_at < now() - interval '1 hour'
)
select vector from query_embedding where space = $1 and digest = $2

-- name: hold_writes
-- Puts the space's writes on hold for some seconds, after running ones have ended.
select hold_writes($1, $2)

-- name: open_space
-- Creates the space's row, or gives an empty space another model.
select open_space($1, $2)

-- name: put_query_embedding
-- Stores a query's vector; keeps the space's $4 most recently used ones.
with kept as (
  insert into query_embedding (space, digest, vector) values ($1, $2, $3)
  on conflict (space, digest) do update set vector = excluded.vector, used_at = now()
), surplus as (
  select digest from query_embedding where space = $1 and digest <> $2
  order by used_at desc, digest offset $4 for update skip locked
)
delete from query_embedding q using surplus s where q.space = $1 and q.digest = s.digest

-- name: register_model
-- Returns a model by name and dimension, creating it with its tables if it is new; null if the space may not register
-- more.
select id from register_model($1, $2, $3)

-- name: remove_model
-- Removes a space's vectors of a model; returns how many, null if it is the space's own.
select remove_model($2, $1)

-- name: share_model_lock
-- Prevents changes of the space's models until the transaction ends; shared by all writers.
select pg_advisory_xact_lock_shared(space_lock($1))

-- name: space_models
-- The space's models by name, no rows while it is empty, with the number of its vectors of each, and how many of these
-- are not in the index yet.
select m.id, m.name, m.dimension, m.id = s.model_id as active, count_embeddings(m.id, $1) as embedded, s.chunks,
       case when is_large($1) then count_unindexed(m.id, $1) else 0 end as unindexed
from space_stats s
join model m on m.id = s.model_id or m.id in (select x.model_id from space_model x where x.space = $1)
where s.space = $1 and s.chunks > 0
order by m.name

-- name: take_model_lock
-- Takes the exclusive lock on the space's models, so that only this transaction may change them.
select pg_advisory_xact_lock(space_lock($1))

-- name: unembedded_chunks
-- Chunks without a vector of a model.
select id, content from unembedded_chunks($2, $1, $3, $4)
