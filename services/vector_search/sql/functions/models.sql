-- Embedding models. Each has two tables of vectors of its own: indexed, and not indexed yet.

-- The table of a model's vectors in the HNSW index.
create or replace function indexed(p_model smallint) returns text language sql immutable as $$ select 'embedding_' || p_model $$;

-- The table of a model's vectors that are not in the index yet.
create or replace function unindexed(p_model smallint) returns text language sql immutable as $$
  select 'embedding_' || p_model || '_unindexed'
$$;

-- The table of a model's vectors that are not indexed yet. Not partitioned, because each search would pay for the planning.
create or replace function create_unindexed(p_model smallint, p_dimension integer) returns void language plpgsql as $$
begin
  execute format('create table %I (
      space text collate "C" not null,
      chunk_id uuid not null,
      current boolean not null,
      embedding halfvec(%s) not null,
      primary key (space, chunk_id)
    )', unindexed(p_model), p_dimension);
  execute format('alter table %I alter column embedding set storage plain', unindexed(p_model));
end $$;

-- The table of a model's vectors in the index.
create or replace function create_indexed(p_model smallint, p_dimension integer) returns void language plpgsql as $$
declare
  name text := indexed(p_model);
begin
  execute format('create table %I (
      space text collate "C" not null,
      chunk_id uuid not null,
      current boolean not null,
      embedding halfvec(%s) not null,
      primary key (space, chunk_id)
    ) partition by hash (space)', name, p_dimension);
  -- Stored in line whatever its size: an exact search must not fetch each vector from a TOAST table.
  execute format('alter table %I alter column embedding set storage plain', name);
  for part in 0..7 loop
    execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
                   name || '_p' || part, name, part);
  end loop;
  -- Two partial indexes, so that default searches skip superseded chunks. With ef_construction 64, groups of similar texts
  -- were unreachable in some indexes of 100,000 vectors.
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where current', name);
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where not current', name);
end $$;

-- How many new models one space may register: each has tables of its own.
create or replace function max_models_per_space() returns integer language sql immutable as $$ select 16 $$;

-- A model, created with its tables when it is new. Null when the space has registered as many as it may.
-- Runs with the rights of the schema's owner; only writers may call it.
create or replace function register_model(p_name text, p_dimension integer, p_space text) returns model
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made model;
begin
  perform pg_advisory_xact_lock(hashtextextended('braid.model', 0));
  select * into made from model m where m.name = p_name and m.dimension = p_dimension;
  if found then
    return made;
  end if;
  if (select count(*) from model m where m.registered_by = p_space) >= max_models_per_space() then
    return null;
  end if;
  insert into model (name, dimension, registered_by) values (p_name, p_dimension, p_space) returning * into made;
  perform create_indexed(made.id, made.dimension);
  perform create_unindexed(made.id, made.dimension);
  return made;
end $$;

-- The models that a space may have vectors of.
create or replace function models_of(p_space text) returns setof smallint language sql stable as $$
  select s.model_id from space_stats s where s.space = p_space and s.model_id is not null
  union
  select m.model_id from space_model m where m.space = p_space
$$;

-- How many vectors of a model a space has.
create or replace function count_embeddings(p_model smallint, p_space text) returns bigint
language plpgsql stable as $$
declare
  found bigint;
begin
  execute format('select (select count(*) from %I where space = $1) + (select count(*) from %I where space = $1)',
                 indexed(p_model), unindexed(p_model)) into found using p_space;
  return found;
end $$;

-- A page of chunks without a vector of a model.
create or replace function unembedded_chunks(p_model smallint, p_space text, p_after uuid, p_limit integer)
returns table (id uuid, content text) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query execute format(
    'select c.id, c.title || E''\n'' || c.content from chunk c
     where c.space = $1 and ($2 is null or c.id > $2)
       and not exists (select from %I e where e.space = $1 and e.chunk_id = c.id)
       and not exists (select from %I e where e.space = $1 and e.chunk_id = c.id)
     order by c.id limit $3',
    indexed(p_model), unindexed(p_model)) using p_space, p_after, p_limit;
end $$;

-- Stores vectors of a model that is being added, for chunks that still have the text. Only of documents that are locked here:
-- a document that is deleted and written again while this waits gets none, since its next deletion would not see them.
create or replace function fill_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_digests text[], p_vectors halfvec[]
) returns bigint language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  locked text[];
  stored bigint;
begin
  locked := array(
    select d.document_id from document d where d.space = p_space and d.document_id in (
      select c.document_id from chunk c where c.space = p_space and c.id = any (p_ids))
    order by d.document_id collate "C" for share);
  execute format(
    'with given as (
       select c.id, c.current, u.vector
       from unnest($2, $3, $4) as u (id, digest, vector)
       join chunk c on c.space = $1 and c.id = u.id
       where c.document_id = any ($5)
         and encode(sha256(convert_to(c.title || E''\n'' || c.content, ''UTF8'')), ''hex'') = u.digest
     ), renewed as (
       update %I e set embedding = g.vector from given g where e.space = $1 and e.chunk_id = g.id returning e.chunk_id
     ), put as (
       insert into %I as e (space, chunk_id, current, embedding)
       select $1, g.id, g.current, g.vector from given g
       where g.id not in (select r.chunk_id from renewed r)
       order by g.id
       on conflict (space, chunk_id) do update set embedding = excluded.embedding
       returning e.chunk_id
     )
     select (select count(*) from renewed) + (select count(*) from put)',
    indexed(p_model), unindexed(p_model)) into stored using p_space, p_ids, p_digests, p_vectors, locked;
  return stored;
end $$;

-- Makes a model the space's own and lets writes go on. The new revision; null while a chunk has no vector of it.
create or replace function activate_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  former smallint;
  raised bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  select s.model_id, s.revision into former, raised from space_stats s where s.space = p_space for update;
  if former = p_model then
    return raised;
  end if;
  if exists (select from unembedded_chunks(p_model, p_space, null, 1)) then
    return null;
  end if;
  insert into space_model (space, model_id) values (p_space, former) on conflict do nothing;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  update space_stats s set model_id = p_model, revision = s.revision + 1, writes_held_until = '-infinity'
  where s.space = p_space returning s.revision into raised;
  return raised;
end $$;

-- Deletes a space's vectors of a model: how many. Null when the model is the space's own.
create or replace function remove_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  removed bigint;
  waiting bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  if exists (select from space_stats s where s.space = p_space and s.model_id = p_model) then
    return null;
  end if;
  execute format('delete from %I where space = $1', indexed(p_model)) using p_space;
  get diagnostics removed = row_count;
  execute format('delete from %I where space = $1', unindexed(p_model)) using p_space;
  get diagnostics waiting = row_count;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  return removed + waiting;
end $$;

-- Models and their tables are created by register_model alone.
revoke execute on function create_unindexed(smallint, integer), create_indexed(smallint, integer) from public;
revoke execute on function register_model(text, integer, text) from public, braid_reader;
grant execute on function register_model(text, integer, text) to braid_writer;
