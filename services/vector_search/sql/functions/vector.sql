-- Nearest neighbours: exact comparison of few candidates, or the HNSW index scanned until filters are satisfied.

-- Loads the extension's library: its settings can be named below only when it is loaded.
select '[1]'::halfvec;

-- Up to so many candidates are compared one by one; larger sets use the HNSW index.
create or replace function exact_cap() returns integer language sql immutable as 'select 4000';

-- Cosine similarities of given chunks.
create or replace function cosines(p_model smallint, p_space text, p_query halfvec, p_ids uuid[])
returns table (id uuid, score float8) language plpgsql stable as $$
begin
  return query execute format(
    'select e.chunk_id, 1 - (e.embedding <=> $3) from %I e where e.space = $1 and e.chunk_id = any ($2)
     union all
     select e.chunk_id, 1 - (e.embedding <=> $3) from %I e where e.space = $1 and e.chunk_id = any ($2)',
    indexed(p_model), unindexed(p_model)) using p_space, p_ids, p_query;
end $$;

-- The nearest among all current chunks of a space; every one is compared.
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

-- Sets how many candidates an HNSW search of the space keeps, until the end of the calling function, which must have the setting
-- itself. Measured recall of the nearest ten with a hundred kept: .998 of 10,000 fact sentences, .996 of 20,000. Where other
-- spaces share the index, the iterative scan continues until it has p_limit of this one.
create or replace function set_ef_search(p_space text, p_limit integer default null) returns void
language plpgsql stable as $$
declare
  chunks bigint := (select s.chunks from space_stats s where s.space = p_space);
begin
  if chunks > 20000 then
    perform set_config('hnsw.ef_search', '400', true);
  elsif chunks <= 20000 and p_limit between 100 and 200 then
    perform set_config('hnsw.ef_search', p_limit::text, true);
  end if;
end $$;

-- How many vectors of a space are not indexed yet, of one model.
create or replace function count_unindexed(p_model smallint, p_space text) returns bigint language plpgsql stable as $$
declare
  found bigint;
begin
  execute format('select count(*) from %I where space = $1', unindexed(p_model)) into found using p_space;
  return found;
end $$;

-- Whether the index has enough of a large space's vectors to be worth scanning.
create or replace function index_serves(p_space text, p_waiting bigint) returns boolean language sql stable as $$
  select p_waiting = 0 or exists (select from space_stats s where s.space = p_space and s.chunks - p_waiting > exact_cap())
$$;

-- The nearest of the vectors that are not indexed yet, and that pass filters at an instant where one is given.
create or replace function nearest_unindexed(
  p_model smallint, p_space text, p_query halfvec, p_limit integer, p_current boolean,
  p_at timestamptz default null, p_documents text[] default null, p_metadata jsonb default null
) returns table (id uuid, score float8) language plpgsql stable as $$
begin
  -- Chunks are tested from the nearest on, until enough pass.
  return query execute format(
    'select x.chunk_id, 1 - x.distance from (
       select e.chunk_id, e.embedding <=> $2 as distance from %I e where e.space = $1 and e.current = $4
       order by 2 offset 0) x
     where $5 is null or chunk_passes($1, x.chunk_id, $5, $6, $7)
     limit $3', unindexed(p_model)) using p_space, p_query, p_limit, p_current, p_at, p_documents, p_metadata;
end $$;

-- The nearest current chunks by the HNSW index, and those not indexed yet. No rows when the index has few vectors of the
-- space, or returned fewer than the limit. Sorting is off so that the index answers, whatever the planner estimates.
create or replace function nearest_hnsw(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
declare
  waiting bigint := count_unindexed(p_model, p_space);
  ids uuid[];
  scores float8[];
begin
  if not index_serves(p_space, waiting) then
    return;
  end if;
  perform set_ef_search(p_space, p_limit);
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

-- The nearest of the current, or of the other, chunks that pass filters at an instant; p_listed are all that pass, if few.
create or replace function nearest_flagged(
  p_model smallint, p_space text, p_query halfvec, p_limit integer,
  p_at timestamptz, p_documents text[], p_metadata jsonb, p_current boolean, p_listed uuid[]
) returns table (id uuid, score float8) language plpgsql stable as $$
declare
  listed uuid[] := p_listed;
  waiting bigint := count_unindexed(p_model, p_space);
  found_rows bigint;
begin
  if listed is null and index_serves(p_space, waiting) then
    return query execute format(
      'select e.chunk_id, 1 - (e.embedding <=> $2) from %I e
       where e.space = $1 and %s and exists (
         select from version_chunk vc
         join document_version v on v.space = $1 and v.document_id = vc.document_id and v.version = vc.version
         where vc.space = $1 and vc.chunk_id = e.chunk_id and (vc.valid_from is null or vc.valid_from <= $4)
           and v.valid_from <= $4 and v.valid_until > $4
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
  -- The index has too few vectors, or the scan ended before it had enough: all that pass are compared.
  if listed is null then
    listed := case when p_current then eligible_current(p_space, p_at, p_documents, p_metadata, 2147483646)
                   else eligible_others(p_space, p_at, p_documents, p_metadata, 2147483646) end;
  end if;
  return query select c.id, c.score from cosines(p_model, p_space, p_query, listed) c;
end $$;

-- The nearest among chunks that pass filters at an instant, when more than exact_cap() do. Where few chunks of one of the two
-- indexes pass, they are compared one by one, since the index would be scanned from end to end for them.
create or replace function nearest_hnsw_filtered(
  p_model smallint, p_space text, p_query halfvec, p_limit integer,
  p_at timestamptz, p_documents text[], p_metadata jsonb
) returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
declare
  others uuid[] := eligible_others(p_space, p_at, p_documents, p_metadata, exact_cap());
  currents uuid[];
begin
  perform set_ef_search(p_space);
  -- With few others, the current ones are many and need not be listed.
  if others is null or cardinality(others) > exact_cap() / 2 then
    currents := eligible_current(p_space, p_at, p_documents, p_metadata, exact_cap());
  end if;
  return query select distinct on (u.id) u.id, u.score from (
    select * from nearest_flagged(
      p_model, p_space, p_query, p_limit, p_at, p_documents, p_metadata, true, currents)
    union all
    select * from nearest_flagged(
      p_model, p_space, p_query, p_limit, p_at, p_documents, p_metadata, false, others)
  ) u;
end $$;
