-- Vectors enter the HNSW index in the background. Spaces of up to exact_cap() chunks are compared in full and never enter it;
-- larger ones are found from the first moment, by comparing the vectors that are not indexed yet.

-- Whether a space is so large that its vectors belong in the index.
create or replace function is_large(p_space text) returns boolean language sql stable as $$
  select exists (select from space_stats s where s.space = p_space and s.chunks > exact_cap())
$$;

-- How many vectors of a large space are not indexed yet, of all models, counted up to p_max. 0 for a small space.
create or replace function unindexed_count(p_space text, p_max integer) returns bigint language plpgsql stable as $$
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
    into counted using p_space, p_max - total;
    total := total + counted;
  end loop;
  return total;
end $$;

-- Large spaces with vectors that are not indexed yet.
create or replace function spaces_to_index() returns setof text language plpgsql stable as $$
declare
  each_model smallint;
begin
  for each_model in select id from model order by id loop
    return query execute format(
      'select s.space from space_stats s
       where s.chunks > exact_cap() and exists (select from %I e where e.space = s.space)', unindexed(each_model));
  end loop;
end $$;

-- Moves up to p_limit vectors of a space into a model's index: how many. It never waits: vectors that another process moves, and
-- those of documents that are being written, are skipped, so that no flag is set on a vector that has gone.
create or replace function index_embeddings(p_model smallint, p_space text, p_limit integer) returns bigint
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

-- Moves up to p_limit vectors of a large space into the indexes of its models: how many.
create or replace function index_vectors(p_space text, p_limit integer) returns bigint language plpgsql as $$
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
