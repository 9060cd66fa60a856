-- The vector leg: exact comparison of few candidates, or the HNSW index scanned on until filters are satisfied.

-- Loads the extension's library: its settings can be named below only when it is there.
select '[1]'::halfvec;

-- Whether a chunk is part of a version that holds at an instant and passes the filters.
create function chunk_passes(
  p_space text, p_chunk uuid, p_at timestamptz, p_documents text[], p_metadata jsonb
) returns boolean language sql stable as $$
  select exists (
    select from version_chunk vc
    join document_version v
      on v.space = p_space and v.document_id = vc.document_id and v.version = vc.version
    where vc.space = p_space and vc.chunk_id = p_chunk
      and v.valid_from <= p_at and v.valid_until > p_at
      and (p_documents is null or v.document_id = any (p_documents))
      and (p_metadata is null or v.metadata @> p_metadata)
  )
$$;

-- The chunks that pass the filters, or null when they are more than p_cap.
create function eligible_chunks(
  p_space text, p_at timestamptz, p_documents text[], p_metadata jsonb, p_cap integer
) returns uuid[] language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
  found_ids uuid[];
begin
  select array_agg(x.chunk_id) into found_ids from (
    select vc.chunk_id
    from document_version v
    join version_chunk vc
      on vc.space = p_space and vc.document_id = v.document_id and vc.version = v.version
    where v.space = p_space and v.valid_from <= p_at and v.valid_until > p_at
      and (p_documents is null or v.document_id = any (p_documents))
      and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null
              else coalesce(found_ids, '{}') end;
end $$;

-- Cosine similarities of given chunks.
create function cosines(p_model smallint, p_space text, p_query halfvec, p_ids uuid[])
returns table (id uuid, score float8) language plpgsql stable as $$
begin
  return query execute format(
    'select e.chunk_id, 1 - (e.embedding <=> $3) from %I e
     where e.space = $1 and e.chunk_id = any ($2)',
    'embedding_' || p_model) using p_space, p_ids, p_query;
end $$;

-- The nearest among all current chunks of a space, every one compared.
create function nearest_exact(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable as $$
begin
  return query execute format(
    'select x.chunk_id, 1 - x.distance from (
       select e.chunk_id, e.embedding <=> $2 as distance from %I e
       where e.space = $1 and e.current offset 0) x
     order by x.distance, x.chunk_id limit $3',
    'embedding_' || p_model) using p_space, p_query, p_limit;
end $$;

-- The nearest by the index of current chunks. Sorting is off so that the index, not the planner's guess, answers.
create function nearest_hnsw(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
begin
  return query execute format(
    'select e.chunk_id, 1 - (e.embedding <=> $2) from %I e
     where e.space = $1 and e.current order by e.embedding <=> $2 limit $3',
    'embedding_' || p_model) using p_space, p_query, p_limit;
end $$;

-- The same among chunks that pass filters at an instant; both indexes are read, for it may be a past one.
create function nearest_hnsw_filtered(
  p_model smallint, p_space text, p_query halfvec, p_limit integer,
  p_at timestamptz, p_documents text[], p_metadata jsonb
) returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
begin
  return query execute format(
    '(select e.chunk_id, 1 - (e.embedding <=> $2) from %1$I e
      where e.space = $1 and e.current and chunk_passes($1, e.chunk_id, $4, $5, $6)
      order by e.embedding <=> $2 limit $3)
     union all
     (select e.chunk_id, 1 - (e.embedding <=> $2) from %1$I e
      where e.space = $1 and not e.current and chunk_passes($1, e.chunk_id, $4, $5, $6)
      order by e.embedding <=> $2 limit $3)',
    'embedding_' || p_model) using p_space, p_query, p_limit, p_at, p_documents, p_metadata;
end $$;
