-- Vectors wait outside of the index. A space of up to exact_cap() chunks is compared in full whatever there is, so its vectors
-- never enter one; those of larger spaces are found from the first moment, by comparing the few that wait, and enter the index
-- when there is time. Writing costs a fraction, and large spaces share their indexes with large ones alone.

-- Not partitioned: no index grows with it but that of its key, and each search pays for the planning.
create function create_unindexed(p_model smallint, p_dimension integer) returns void language plpgsql as $$
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
revoke execute on function create_unindexed(smallint, integer) from public;

-- The tables of a model's vectors: those in the index, and those that wait.
create function indexed(p_model smallint) returns text language sql immutable as $$ select 'embedding_' || p_model $$;
create function unindexed(p_model smallint) returns text language sql immutable as $$
  select 'embedding_' || p_model || '_unindexed'
$$;

do $$
declare
  each_model model;
begin
  for each_model in select * from model order by id loop
    perform create_unindexed(each_model.id, each_model.dimension);
  end loop;
end $$;

create or replace function register_model(p_name text, p_dimension integer) returns model
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
  name := indexed(made.id);
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
  -- Two indexes that share the rows: default searches never wade through superseded chunks. Built with half of the care, whole
  -- groups of like texts were out of reach in some of 100,000 vectors; no write waits for it.
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where current', name);
  execute format('create index on %I using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128) where not current', name);
  perform create_unindexed(made.id, made.dimension);
  return made;
end $$;

-- The models that a space may have vectors of.
create function models_of(p_space text) returns setof smallint language sql stable as $$
  select s.model_id from space_stats s where s.space = p_space and s.model_id is not null
  union
  select m.model_id from space_model m where m.space = p_space
$$;

create or replace function put_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_current boolean[], p_vectors halfvec[]
) returns void language plpgsql as $$
begin
  execute format(
    'insert into %I (space, chunk_id, current, embedding)
     select $1, u.* from unnest($2, $3, $4) as u (chunk_id, current, embedding)',
    unindexed(p_model)) using p_space, p_ids, p_current, p_vectors;
end $$;

-- Sets the flag in every model's tables: a second model may be back-filled while the first serves.
create or replace function flag_embeddings(p_space text, p_ids uuid[], p_current boolean) returns void
language plpgsql as $$
declare
  each_table text;
begin
  for each_table in select unnest(array[indexed(id), unindexed(id)]) from model order by id loop
    execute format('update %I set current = $3 where space = $1 and chunk_id = any ($2)', each_table)
    using p_space, p_ids, p_current;
  end loop;
end $$;

create or replace function drop_embeddings(p_space text, p_ids uuid[]) returns void
language plpgsql as $$
declare
  each_table text;
begin
  for each_table in select unnest(array[indexed(id), unindexed(id)]) from model order by id loop
    execute format('delete from %I where space = $1 and chunk_id = any ($2)', each_table) using p_space, p_ids;
  end loop;
end $$;

create or replace function count_embeddings(p_model smallint, p_space text) returns bigint
language plpgsql stable as $$
declare
  found bigint;
begin
  execute format('select (select count(*) from %I where space = $1) + (select count(*) from %I where space = $1)',
                 indexed(p_model), unindexed(p_model)) into found using p_space;
  return found;
end $$;

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

-- As before: the documents are locked against writers, and against what brings vectors into the index.
create or replace function fill_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_digests text[], p_vectors halfvec[]
) returns bigint language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  stored bigint;
begin
  perform from document d where d.space = p_space and d.document_id in (
    select c.document_id from chunk c where c.space = p_space and c.id = any (p_ids))
  order by d.document_id for share;
  execute format(
    'with given as (
       select c.id, c.current, u.vector
       from unnest($2, $3, $4) as u (id, digest, vector)
       join chunk c on c.space = $1 and c.id = u.id
       where encode(sha256(convert_to(c.title || E''\n'' || c.content, ''UTF8'')), ''hex'') = u.digest
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
    indexed(p_model), unindexed(p_model)) into stored using p_space, p_ids, p_digests, p_vectors;
  return stored;
end $$;

create or replace function remove_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  removed bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  if exists (select from space_stats s where s.space = p_space and s.model_id = p_model) then
    return null;
  end if;
  removed := count_embeddings(p_model, p_space);
  execute format('delete from %I where space = $1', indexed(p_model)) using p_space;
  execute format('delete from %I where space = $1', unindexed(p_model)) using p_space;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  return removed;
end $$;

-- Whether a space is so large that its vectors belong into the index.
create function is_large(p_space text) returns boolean language sql stable as $$
  select exists (select from space_stats s where s.space = p_space and s.chunks > exact_cap())
$$;

-- How many vectors of a large space wait, of all models; counted up to p_most. 0 for a small one.
create function waiting_vectors(p_space text, p_most integer) returns bigint language plpgsql stable as $$
declare
  each_model smallint;
  counted bigint;
  total bigint := 0;
begin
  if not is_large(p_space) then
    return 0;
  end if;
  for each_model in select models_of(p_space) loop
    execute format('select count(*) from (select from %I e where e.space = $1 limit $2) x', unindexed(each_model))
    into counted using p_space, p_most - total;
    total := total + counted;
  end loop;
  return total;
end $$;

-- Large spaces of which vectors wait.
create function waiting_spaces() returns setof text language plpgsql stable as $$
declare
  each_model smallint;
begin
  for each_model in select id from model order by id loop
    return query execute format(
      'select s.space from space_stats s
       where s.chunks > exact_cap() and exists (select from %I e where e.space = s.space)', unindexed(each_model));
  end loop;
end $$;

-- Brings up to p_limit vectors of a space into a model's index; how many. It waits for nobody: vectors that others bring in, and
-- those of documents that are being written, are left for later, so that no flag is set where a vector is no more.
create function index_embeddings(p_model smallint, p_space text, p_limit integer) returns bigint
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  ids uuid[];
  documents text[];
  moved bigint;
begin
  execute format(
    'select array(select e.chunk_id from %I e where e.space = $1 order by e.chunk_id limit $2 for update skip locked)',
    unindexed(p_model)) into ids using p_space, p_limit;
  documents := array(
    select d.document_id from document d
    where d.space = p_space and d.document_id in (
      select c.document_id from chunk c where c.space = p_space and c.id = any (ids))
    for no key update skip locked);
  execute format(
    'with gone as (
       delete from %I e using chunk c
       where e.space = $1 and e.chunk_id = any ($2) and c.space = $1 and c.id = e.chunk_id and c.document_id = any ($3)
       returning e.chunk_id, e.current, e.embedding
     )
     insert into %I (space, chunk_id, current, embedding) select $1, g.* from gone g',
    unindexed(p_model), indexed(p_model)) using p_space, ids, documents;
  get diagnostics moved = row_count;
  return moved;
end $$;

-- The same for all models of a space, if it is large.
create function index_vectors(p_space text, p_limit integer) returns bigint language plpgsql as $$
declare
  each_model smallint;
  moved bigint := 0;
begin
  if not is_large(p_space) then
    return 0;
  end if;
  perform pg_advisory_xact_lock_shared(space_lock(p_space));
  for each_model in select models_of(p_space) loop
    if moved < p_limit then
      moved := moved + index_embeddings(each_model, p_space, (p_limit - moved)::integer);
    end if;
  end loop;
  return moved;
end $$;

create or replace function cosines(p_model smallint, p_space text, p_query halfvec, p_ids uuid[])
returns table (id uuid, score float8) language plpgsql stable as $$
begin
  return query execute format(
    'select e.chunk_id, 1 - (e.embedding <=> $3) from %I e where e.space = $1 and e.chunk_id = any ($2)
     union all
     select e.chunk_id, 1 - (e.embedding <=> $3) from %I e where e.space = $1 and e.chunk_id = any ($2)',
    indexed(p_model), unindexed(p_model)) using p_space, p_ids, p_query;
end $$;

create or replace function nearest_exact(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable as $$
begin
  return query execute format(
    'select x.chunk_id, 1 - x.distance from (
       select e.chunk_id, e.embedding <=> $2 as distance from %I e where e.space = $1 and e.current
       union all
       select e.chunk_id, e.embedding <=> $2 from %I e where e.space = $1 and e.current
       offset 0) x
     order by x.distance, x.chunk_id limit $3',
    indexed(p_model), unindexed(p_model)) using p_space, p_query, p_limit;
end $$;

-- The nearest of those that wait, and that pass filters at an instant where one is given.
create function nearest_unindexed(
  p_model smallint, p_space text, p_query halfvec, p_limit integer, p_current boolean,
  p_at timestamptz default null, p_documents text[] default null, p_metadata jsonb default null
) returns table (id uuid, score float8) language plpgsql stable as $$
begin
  -- Filters are asked from the nearest on, until enough have passed.
  return query execute format(
    'select x.chunk_id, 1 - x.distance from (
       select e.chunk_id, e.embedding <=> $2 as distance from %I e where e.space = $1 and e.current = $4
       order by 2 offset 0) x
     where $5 is null or chunk_passes($1, x.chunk_id, $5, $6, $7)
     limit $3', unindexed(p_model)) using p_space, p_query, p_limit, p_current, p_at, p_documents, p_metadata;
end $$;

-- How many vectors of a space wait, of one model.
create function count_waiting(p_model smallint, p_space text) returns bigint language plpgsql stable as $$
declare
  found bigint;
begin
  execute format('select count(*) from %I where space = $1', unindexed(p_model)) into found using p_space;
  return found;
end $$;

-- Whether the index has so many of a large space's vectors that scanning it is worth while, where so many wait outside.
create function index_serves(p_space text, p_waiting bigint) returns boolean language sql stable as $$
  select p_waiting = 0 or exists (select from space_stats s where s.space = p_space and s.chunks - p_waiting > exact_cap())
$$;

-- Nothing at all where the index has few vectors of the space, or gave less than was asked for: the scan gave up.
create or replace function nearest_hnsw(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
declare
  waiting bigint := count_waiting(p_model, p_space);
  ids uuid[];
  scores float8[];
begin
  if not index_serves(p_space, waiting) then
    return;
  end if;
  perform set_breadth(p_space);
  execute format(
    'select array_agg(x.chunk_id), array_agg(x.score) from (
       select e.chunk_id, 1 - (e.embedding <=> $2) as score from %I e
       where e.space = $1 and e.current order by e.embedding <=> $2 limit $3) x',
    indexed(p_model)) into ids, scores using p_space, p_query, p_limit;
  if coalesce(cardinality(ids), 0) < p_limit then
    return;
  end if;
  if waiting = 0 then
    return query select * from unnest(ids, scores);
    return;
  end if;
  return query
    select x.id, x.score from (
      select u.id, u.score from unnest(ids, scores) u (id, score)
      union all
      select u.id, u.score from nearest_unindexed(p_model, p_space, p_query, p_limit, true) u) x
    order by x.score desc, x.id limit p_limit;
end $$;

create or replace function nearest_flagged(
  p_model smallint, p_space text, p_query halfvec, p_limit integer,
  p_at timestamptz, p_documents text[], p_metadata jsonb, p_current boolean, p_listed uuid[]
) returns table (id uuid, score float8) language plpgsql stable as $$
declare
  listed uuid[] := p_listed;
  waiting bigint := count_waiting(p_model, p_space);
  found_rows bigint;
begin
  if listed is null and index_serves(p_space, waiting) then
    return query execute format(
      'select e.chunk_id, 1 - (e.embedding <=> $2) from %I e
       where e.space = $1 and %s and exists (
         select from version_chunk vc
         join document_version v on v.space = $1 and v.document_id = vc.document_id and v.version = vc.version
         where vc.space = $1 and vc.chunk_id = e.chunk_id and v.valid_from <= $4 and v.valid_until > $4
           and ($5 is null or v.document_id = any ($5)) and ($6 is null or v.metadata @> $6) offset 0)
       order by e.embedding <=> $2 limit $3',
      indexed(p_model), case when p_current then 'e.current' else 'not e.current' end)
    using p_space, p_query, p_limit, p_at, p_documents, p_metadata;
    get diagnostics found_rows = row_count;
    if found_rows = p_limit then
      if waiting > 0 then
        return query select u.* from nearest_unindexed(
          p_model, p_space, p_query, p_limit, p_current, p_at, p_documents, p_metadata) u;
      end if;
      return;
    end if;
  end if;
  -- The index has too few vectors, or the scan gave up before it had enough: nothing may be lost, so all that pass are compared.
  if listed is null then
    listed := case when p_current then eligible_current(p_space, p_at, p_documents, p_metadata, 2147483646)
                   else eligible_others(p_space, p_at, p_documents, p_metadata, 2147483646) end;
  end if;
  return query select c.id, c.score from cosines(p_model, p_space, p_query, listed) c;
end $$;
