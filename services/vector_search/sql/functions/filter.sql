-- Which chunks a search may return: those of versions that hold at the time asked about and that pass its filter.
-- Vector and text search use the same functions. `services/agent_orchestrator/expansion/chunk_filter.py` applies the
-- same rule to the passages that only a path reached.

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

-- Documents whose flags `current` are stale: a version came into force that was written before.
create or replace function due_documents(p_space text) returns text[] language sql stable as $$
  select array(
    select distinct v.document_id from document_version v where v.space = p_space and v.pending and v.valid_from <= now())
$$;

-- The chunks that pass the filters at an instant and are not flagged as current: of versions that hold at only one of the two
-- times, and of documents with stale flags. Null when they are more than p_cap.
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
