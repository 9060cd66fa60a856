-- Embeddings: one table a model, so that models of any dimension live side by side and one can be dropped whole.
create function register_model(p_name text, p_dimension integer) returns model
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made model;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('braid.model', 0));
  select * into made from model m where m.name = p_name;
  if found then
    return made;
  end if;
  insert into model (name, dimension) values (p_name, p_dimension) returning * into made;
  name := 'embedding_' || made.id;
  execute format('create table %I (
      space text collate "C" not null,
      chunk_id uuid not null,
      current boolean not null,
      embedding halfvec(%s) not null,
      primary key (space, chunk_id)
    ) partition by hash (space)', name, made.dimension);
  -- In line whatever its size: comparing all vectors of a space must not fetch each from elsewhere.
  execute format('alter table %I alter column embedding set storage plain', name);
  for part in 0..7 loop
    execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
                   name || '_p' || part, name, part);
  end loop;
  -- Two indexes that share the rows: default searches never wade through superseded chunks.
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) where current', name);
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) where not current', name);
  return made;
end $$;

-- Models and their tables are made in this way alone.
revoke insert, update, delete on model from braid_writer;
-- It runs with the rights of the schema's owner: only writers may.
revoke execute on function register_model(text, integer) from public, braid_reader;
grant execute on function register_model(text, integer) to braid_writer;

create function put_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_current boolean[], p_vectors halfvec[]
) returns void language plpgsql as $$
begin
  execute format(
    'insert into %I (space, chunk_id, current, embedding)
     select $1, u.* from unnest($2, $3, $4) as u (chunk_id, current, embedding)',
    'embedding_' || p_model) using p_space, p_ids, p_current, p_vectors;
end $$;

-- Sets the flag in every model's table: a second model may be back-filled while the first serves.
create function flag_embeddings(p_space text, p_ids uuid[], p_current boolean) returns void
language plpgsql as $$
declare
  each_model smallint;
begin
  for each_model in select id from model order by id loop
    execute format('update %I set current = $3 where space = $1 and chunk_id = any ($2)',
                   'embedding_' || each_model) using p_space, p_ids, p_current;
  end loop;
end $$;

create function drop_embeddings(p_space text, p_ids uuid[]) returns void
language plpgsql as $$
declare
  each_model smallint;
begin
  for each_model in select id from model order by id loop
    execute format('delete from %I where space = $1 and chunk_id = any ($2)',
                   'embedding_' || each_model) using p_space, p_ids;
  end loop;
end $$;
