-- A model is its name and its dimension: what one space calls by a name must not decide for all others how long vectors of that
-- name are. The space that brought a model is noted, as one may bring only so many: each has tables of its own, for good.
alter table model
  drop constraint model_name_key,
  add constraint model_name_dimension_key unique (name, dimension),
  add column brought_by text collate "C";

create function most_models_brought() returns integer language sql immutable as $$ select 16 $$;

-- The table of a model's vectors in the index; see create_unindexed.
create function create_indexed(p_model smallint, p_dimension integer) returns void language plpgsql as $$
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
  -- In line whatever its size: comparing all vectors of a space must not fetch each from elsewhere.
  execute format('alter table %I alter column embedding set storage plain', name);
  for part in 0..7 loop
    execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
                   name || '_p' || part, name, part);
  end loop;
  -- Two indexes that share the rows: default searches never wade through superseded chunks. Built with half of the care, whole
  -- groups of like texts were out of reach in some of 100,000 vectors; no write waits for it.
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where current', name);
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where not current', name);
end $$;
revoke execute on function create_indexed(smallint, integer) from public;

-- A model, made with its tables when it is new; null when the space has brought as many as it may.
create function register_model(p_name text, p_dimension integer, p_space text) returns model
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made model;
begin
  perform pg_advisory_xact_lock(hashtextextended('braid.model', 0));
  select * into made from model m where m.name = p_name and m.dimension = p_dimension;
  if found then
    return made;
  end if;
  if (select count(*) from model m where m.brought_by = p_space) >= most_models_brought() then
    return null;
  end if;
  insert into model (name, dimension, brought_by) values (p_name, p_dimension, p_space) returning * into made;
  perform create_indexed(made.id, made.dimension);
  perform create_unindexed(made.id, made.dimension);
  return made;
end $$;
revoke execute on function register_model(text, integer, text) from public, braid_reader;
grant execute on function register_model(text, integer, text) to braid_writer;

-- For programs of before, which look at the answer's dimension.
create or replace function register_model(p_name text, p_dimension integer) returns model
language sql security definer set search_path = public, pg_temp as $$
  select * from register_model(p_name, p_dimension, null)
$$;

-- Set the flag, and remove vectors, in the tables of the space's own models: those of others are none of its business.
create or replace function flag_embeddings(p_space text, p_ids uuid[], p_current boolean) returns void
language plpgsql as $$
declare
  each_table text;
begin
  for each_table in select unnest(array[indexed(id), unindexed(id)]) from models_of(p_space) as m (id) order by id loop
    execute format('update %I set current = $3 where space = $1 and chunk_id = any ($2)', each_table)
    using p_space, p_ids, p_current;
  end loop;
end $$;

create or replace function drop_embeddings(p_space text, p_ids uuid[]) returns void
language plpgsql as $$
declare
  each_table text;
begin
  for each_table in select unnest(array[indexed(id), unindexed(id)]) from models_of(p_space) as m (id) order by id loop
    execute format('delete from %I where space = $1 and chunk_id = any ($2)', each_table) using p_space, p_ids;
  end loop;
end $$;

-- Makes the space's row, or gives an empty space another model, in place of all that it had: it has each in one dimension.
create or replace function open_space(p_space text, p_model smallint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  insert into space_stats as s (space, model_id) values (p_space, p_model)
  on conflict (space) do update set model_id = excluded.model_id
  where s.chunks = 0 and s.model_id is distinct from excluded.model_id;
  if found then
    delete from space_model m where m.space = p_space;
  end if;
end $$;
