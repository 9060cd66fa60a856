-- Filtered vector searches scan an index only where enough of it passes the filters: a part with few such chunks is compared
-- one by one. And the larger a space, the more of its index a search looks at.

-- Versions that ended, by when: those that held at a recent time and hold no longer are few.
-- Writers wait while it is built; it gives up rather than let all wait that come after it.
set local lock_timeout = '10s';
create index document_version_end on document_version (space, valid_until) where valid_until < 'infinity';

-- How many candidates a search of a space's index keeps: what is enough of some thousand chunks loses neighbours of many more.
-- It holds until the end of the function that asks for it and has the setting itself.
create function set_breadth(p_space text) returns void language plpgsql stable as $$
begin
  if (select s.chunks > 20000 from space_stats s where s.space = p_space) then
    perform set_config('hnsw.ef_search', '400', true);
  end if;
end $$;

-- Documents whose flags `current` are not right yet: a version has come into force that was written before.
create function due_documents(p_space text) returns text[] language sql stable as $$
  select array(
    select distinct v.document_id from document_version v where v.space = p_space and v.pending and v.valid_from <= now())
$$;

-- The chunks that pass the filters at an instant and whose flag `current` does not say that they hold now: of versions that
-- hold at the one time alone, and of documents whose flags are not right yet. Null when they are more than p_cap.
create function eligible_others(
  p_space text, p_at timestamptz, p_documents text[], p_metadata jsonb, p_cap integer
) returns uuid[] language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
  due text[] := due_documents(p_space);
  found_ids uuid[];
begin
  select array_agg(x.chunk_id) into found_ids from (
    select vc.chunk_id
    from (
      select v.document_id, v.version, v.metadata from document_version v
      where v.space = p_space and v.valid_from <= p_at and v.valid_until > p_at and v.valid_until <= now()
        and v.valid_until < 'infinity'
      union all
      select v.document_id, v.version, v.metadata from document_version v
      where v.space = p_space and v.valid_from <= p_at and v.valid_until > p_at and v.valid_from > now()
      union all
      select v.document_id, v.version, v.metadata from document_version v
      where v.space = p_space and v.valid_from <= p_at and v.valid_until > p_at
        and v.valid_from <= now() and v.valid_until > now() and v.document_id = any (due)
    ) v
    join version_chunk vc on vc.space = p_space and vc.document_id = v.document_id and vc.version = v.version
    where (p_documents is null or v.document_id = any (p_documents)) and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null else coalesce(found_ids, '{}') end;
end $$;

-- The chunks that pass the filters at an instant and are flagged as current; null when they are more than p_cap.
create function eligible_current(
  p_space text, p_at timestamptz, p_documents text[], p_metadata jsonb, p_cap integer
) returns uuid[] language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
  found_ids uuid[];
begin
  select array_agg(x.chunk_id) into found_ids from (
    select vc.chunk_id
    from document_version v
    join version_chunk vc on vc.space = p_space and vc.document_id = v.document_id and vc.version = v.version
    join chunk c on c.space = p_space and c.id = vc.chunk_id and c.current
    where v.space = p_space and v.valid_from <= p_at and v.valid_until > p_at
      and (p_documents is null or v.document_id = any (p_documents)) and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null else coalesce(found_ids, '{}') end;
end $$;

-- The nearest among all current chunks of a space by their index. Sorting is off so that the index, not the planner's guess,
-- answers.
create or replace function nearest_hnsw(p_model smallint, p_space text, p_query halfvec, p_limit integer)
returns table (id uuid, score float8) language plpgsql stable
set enable_sort = off set enable_seqscan = off
set hnsw.ef_search = 200 set hnsw.iterative_scan = relaxed_order set hnsw.max_scan_tuples = 60000 as $$
begin
  perform set_breadth(p_space);
  return query execute format(
    'select e.chunk_id, 1 - (e.embedding <=> $2) from %I e
     where e.space = $1 and e.current order by e.embedding <=> $2 limit $3',
    'embedding_' || p_model) using p_space, p_query, p_limit;
end $$;

-- The nearest of those that pass filters at an instant, among the chunks that are flagged as current or among the others: those
-- listed are compared one by one; where p_listed is null, they are many, and their index is scanned until enough have passed.
create function nearest_flagged(
  p_model smallint, p_space text, p_query halfvec, p_limit integer,
  p_at timestamptz, p_documents text[], p_metadata jsonb, p_current boolean, p_listed uuid[]
) returns table (id uuid, score float8) language plpgsql stable as $$
declare
  listed uuid[] := p_listed;
  found_rows bigint;
begin
  if listed is null then
    return query execute format(
      'select e.chunk_id, 1 - (e.embedding <=> $2) from %I e
       where e.space = $1 and %s and exists (
         select from version_chunk vc
         join document_version v on v.space = $1 and v.document_id = vc.document_id and v.version = vc.version
         where vc.space = $1 and vc.chunk_id = e.chunk_id and v.valid_from <= $4 and v.valid_until > $4
           and ($5 is null or v.document_id = any ($5)) and ($6 is null or v.metadata @> $6) offset 0)
       order by e.embedding <=> $2 limit $3',
      'embedding_' || p_model, case when p_current then 'e.current' else 'not e.current' end)
    using p_space, p_query, p_limit, p_at, p_documents, p_metadata;
    get diagnostics found_rows = row_count;
    if found_rows = p_limit then
      return;
    end if;
    -- The scan gave up before it had enough: nothing may be lost, so all that pass are compared.
    listed := case when p_current then eligible_current(p_space, p_at, p_documents, p_metadata, 2147483646)
                   else eligible_others(p_space, p_at, p_documents, p_metadata, 2147483646) end;
  end if;
  return query select c.id, c.score from cosines(p_model, p_space, p_query, listed) c;
end $$;

-- The nearest among chunks that pass filters at an instant, which are more than exact_cap(). Where few of those in one of the
-- indexes pass, they are compared one by one: the index would be scanned from end to end for them.
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
  perform set_breadth(p_space);
  -- With few others, those that are flagged as current are many: they need no listing.
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
