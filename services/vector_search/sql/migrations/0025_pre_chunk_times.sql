-- Chunks of a version may hold since a time of their own: a thread's messages, each since it was written. Instants before that
-- do not find them.

-- Null: since the version does.
alter table version_chunk add column valid_from timestamptz;

-- Whether a chunk is part of a version that holds at an instant and passes the filters.
create or replace function chunk_passes(
  p_space text, p_chunk uuid, p_at timestamptz, p_documents text[], p_metadata jsonb
) returns boolean language sql stable as $$
  select exists (
    select from (
      select k.document_id, k.version from version_chunk k
      where k.space = p_space and k.chunk_id = p_chunk and (k.valid_from is null or k.valid_from <= p_at) offset 0
    ) vc
    cross join lateral (
      select d.document_id, d.valid_from, d.valid_until, d.metadata from document_version d
      where d.space = p_space and d.document_id = vc.document_id and d.version = vc.version offset 0
    ) v
    where v.valid_from <= p_at and v.valid_until > p_at
      and (p_documents is null or v.document_id = any (p_documents))
      and (p_metadata is null or v.metadata @> p_metadata)
  )
$$;

-- The chunks that pass the filters, or null when they are more than p_cap.
create or replace function eligible_chunks(
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
      and (vc.valid_from is null or vc.valid_from <= p_at)
      and (p_documents is null or v.document_id = any (p_documents))
      and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null
              else coalesce(found_ids, '{}') end;
end $$;

-- The chunks that pass the filters at an instant and whose flag `current` does not say that they hold now: of versions that
-- hold at the one time alone, and of documents whose flags are not right yet. Null when they are more than p_cap.
create or replace function eligible_others(
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
    where (vc.valid_from is null or vc.valid_from <= p_at)
      and (p_documents is null or v.document_id = any (p_documents)) and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null else coalesce(found_ids, '{}') end;
end $$;

-- The chunks that pass the filters at an instant and are flagged as current; null when they are more than p_cap.
create or replace function eligible_current(
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
      and (vc.valid_from is null or vc.valid_from <= p_at)
      and (p_documents is null or v.document_id = any (p_documents)) and (p_metadata is null or v.metadata @> p_metadata)
    limit p_cap + 1
  ) x;
  return case when coalesce(cardinality(found_ids), 0) > p_cap then null else coalesce(found_ids, '{}') end;
end $$;

-- The nearest of those that pass filters at an instant, as before.
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
  -- The index has too few vectors, or the scan gave up before it had enough: nothing may be lost, so all that pass are compared.
  if listed is null then
    listed := case when p_current then eligible_current(p_space, p_at, p_documents, p_metadata, 2147483646)
                   else eligible_others(p_space, p_at, p_documents, p_metadata, 2147483646) end;
  end if;
  return query select c.id, c.score from cosines(p_model, p_space, p_query, listed) c;
end $$;

-- Chunks with the version of their document that is in view at an instant; failing that, the latest that has them.
create or replace function chunks_in_view(p_space text, p_ids uuid[], p_at timestamptz)
returns table (
  id uuid, document_id text, title text, source text, content text, ordinal integer,
  start_char integer, end_char integer, metadata jsonb, valid_from timestamptz, page integer
) language sql stable as $$
  select u.id, c.document_id, v.title, v.source, c.content, v.ordinal,
         v.start_char, v.end_char, v.metadata, v.valid_from, v.page
  from unnest(p_ids) u (id)
  cross join lateral (
    select k.document_id, k.content from chunk k where k.space = p_space and k.id = u.id offset 0
  ) c
  cross join lateral (
    select dv.title, dv.source, dv.metadata, coalesce(vc.valid_from, dv.valid_from) as valid_from,
           vc.ordinal, vc.start_char, vc.end_char, vc.page
    from (
      select k.document_id, k.version, k.ordinal, k.start_char, k.end_char, k.page, k.valid_from
      from version_chunk k where k.space = p_space and k.chunk_id = u.id offset 0
    ) vc
    cross join lateral (
      select d.title, d.source, d.metadata, d.valid_from, d.valid_until from document_version d
      where d.space = p_space and d.document_id = vc.document_id and d.version = vc.version offset 0
    ) dv
    order by dv.valid_from <= p_at and dv.valid_until > p_at and (vc.valid_from is null or vc.valid_from <= p_at) desc,
             dv.valid_from desc
    limit 1
  ) v
$$;
