-- Writes of documents, set-based. Every writer takes locks in one order: documents by id, terms by lexeme, the space's row.

-- The advisory lock of a space's model: writers share it, changing the model needs it alone.
create or replace function space_lock(p_space text) returns bigint
language sql immutable as $$ select hashtextextended('braid.space.' || p_space, 0) $$;

-- Creates the space's row, or gives an empty space another model in place of all that it had.
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

-- Gives a space without chunks another text-search configuration; false when it holds chunks of another one.
create or replace function set_language(p_space text, p_language text) returns boolean
language plpgsql as $$
declare
  wanted regconfig := format('pg_catalog.%I', p_language)::regconfig;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  insert into space_stats as s (space, language, revision) values (p_space, wanted, 1)
  on conflict (space) do update set language = excluded.language, revision = s.revision + 1
  where s.chunks = 0 and s.language <> excluded.language;
  return (select s.language = wanted from space_stats s where s.space = p_space);
end $$;

-- Makes writes of the space wait for some seconds. Waits for running writes: they share the space's lock and look at the time
-- only once they have it.
create or replace function hold_writes(p_space text, p_seconds integer) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  update space_stats set writes_held_until = clock_timestamp() + make_interval(secs => p_seconds) where space = p_space;
end $$;

-- Adds chunks to the terms' statistics, or subtracts them; p_was and p_was_df are the former words of chunks indexed again.
-- Rows are locked in the order of their key, as lock_documents does.
create or replace function count_terms(
  p_space text, p_ids uuid[], p_df integer[], p_postings integer[],
  p_was text[] default '{}', p_was_df integer[] default '{}'
) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  insert into term as t (space, lexeme, df, postings)
  select p_space, d.lexeme, d.df, d.postings from (
    select x.lexeme, sum(x.df) as df, sum(x.postings) as postings from (
      select u.lexeme, k.df, k.postings
      from unnest(p_ids, p_df, p_postings) as k (id, df, postings)
      cross join lateral (select o.tsv from chunk o where o.space = p_space and o.id = k.id offset 0) c
      cross join lateral unnest(c.tsv) u
      union all
      select u.lexeme, -k.df, -1
      from unnest(p_was, p_was_df) as k (tsv, df) cross join lateral unnest(k.tsv::tsvector) u
    ) x
    group by x.lexeme
  ) d
  where d.df <> 0 or d.postings <> 0
  order by d.lexeme collate "C"
  on conflict (space, lexeme) do update
    set df = t.df + excluded.df, postings = t.postings + excluded.postings;
end $$;

-- Deletes the terms of chunks that no chunk has any more; their rows are locked by count_terms already.
create or replace function drop_unused_terms(p_space text, p_ids uuid[]) returns void
language sql as $$
  delete from term t
  where t.space = p_space and t.postings = 0 and t.lexeme in (
    select u.lexeme from chunk c cross join lateral unnest(c.tsv) u
    where c.space = p_space and c.id = any (p_ids))
$$;

-- Whether a version of a valid time sets a chunk's title: no later version of the document has the chunk.
create or replace function sets_chunk_title(p_space text, p_chunk uuid, p_valid_from timestamptz) returns boolean
language sql stable as $$
  select not exists (
    select from (
      select k.document_id, k.version from version_chunk k where k.space = p_space and k.chunk_id = p_chunk offset 0
    ) vc
    cross join lateral (
      select d.valid_from from document_version d
      where d.space = p_space and d.document_id = vc.document_id and d.version = vc.version offset 0
    ) v
    where v.valid_from > p_valid_from)
$$;

-- Indexes stored chunks again whose title differs and is set by the latest version. Returns their former words.
create or replace function retitle_chunks(p_space text, p_ids uuid[], p_titles text[], p_valid_from timestamptz[])
returns table (id uuid, was text, length_change integer, current boolean)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  stale uuid[];
  titles text[];
  was_tsv text[];
  was_length integer[];
begin
  select array_agg(c.id), array_agg(u.title), array_agg(c.tsv::text), array_agg(c.length)
  into stale, titles, was_tsv, was_length
  from unnest(p_ids, p_titles, p_valid_from) u (id, title, valid_from)
  join chunk c on c.space = p_space and c.id = u.id
  where c.title <> u.title and sets_chunk_title(p_space, u.id, u.valid_from);
  if stale is null then
    return;
  end if;
  delete from posting p
  using chunk c cross join lateral unnest(c.tsv) w
  where c.space = p_space and c.id = any (stale)
    and p.space = p_space and p.lexeme = w.lexeme and p.chunk_id = c.id;
  update chunk c set title = n.title, tsv = n.tsv,
    length = (select coalesce(sum(cardinality(w.positions)), 0) from unnest(n.tsv) w)
  from (
    select u.id, u.title, chunk_words(s.language, u.title || E'\n' || k.content) as tsv
    from unnest(stale, titles) u (id, title)
    join chunk k on k.space = p_space and k.id = u.id
    join space_stats s on s.space = p_space
  ) n
  where c.space = p_space and c.id = n.id;
  insert into posting (space, lexeme, chunk_id, tf, length, current)
  select p_space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) w
  where c.space = p_space and c.id = any (stale);
  perform drop_embeddings(p_space, stale);
  return query
    select c.id, u.was, c.length - u.was_length, c.current
    from unnest(stale, was_tsv, was_length) u (id, was, was_length)
    join chunk c on c.space = p_space and c.id = u.id;
end $$;

-- Sets `current` of chunks, everywhere that it is kept, except in the statistics.
create or replace function flag_chunks(p_space text, p_ids uuid[], p_current boolean) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update chunk c set current = p_current where c.space = p_space and c.id = any (p_ids);
  update posting p set current = p_current
  from chunk c cross join lateral unnest(c.tsv) u
  where c.space = p_space and c.id = any (p_ids)
    and p.space = p_space and p.lexeme = u.lexeme and p.chunk_id = c.id;
  perform flag_embeddings(p_space, p_ids, p_current);
end $$;

-- Stores vectors of new chunks. They enter the index later: see index.sql.
create or replace function put_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_current boolean[], p_vectors halfvec[]
) returns void language plpgsql as $$
begin
  execute format(
    'insert into %I (space, chunk_id, current, embedding)
     select $1, u.* from unnest($2, $3, $4) as u (chunk_id, current, embedding)',
    unindexed(p_model)) using p_space, p_ids, p_current, p_vectors;
end $$;

-- Sets `current` of vectors in the tables of the space's own models.
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

-- Deletes vectors from the tables of the space's own models.
create or replace function drop_embeddings(p_space text, p_ids uuid[]) returns void
language plpgsql as $$
declare
  each_table text;
begin
  for each_table in select unnest(array[indexed(id), unindexed(id)]) from models_of(p_space) as m (id) order by id loop
    execute format('delete from %I where space = $1 and chunk_id = any ($2)', each_table) using p_space, p_ids;
  end loop;
end $$;

-- Deletes a document with everything of it but the space's counters; returns what was deleted.
create or replace function remove_document(p_space text, p_document text)
returns table (versions integer, ids uuid[], current_chunks bigint, current_length bigint)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  gone uuid[];
  gone_current integer[];
  gone_versions integer;
begin
  perform from document d where d.space = p_space and d.document_id = p_document for update;
  if not found then
    return;
  end if;
  select coalesce(array_agg(c.id order by c.id), '{}'), coalesce(array_agg(c.current::integer order by c.id), '{}'),
         count(*) filter (where c.current), coalesce(sum(c.length) filter (where c.current), 0)
  into gone, gone_current, current_chunks, current_length
  from chunk c where c.space = p_space and c.document_id = p_document;
  perform drop_embeddings(p_space, gone);
  delete from posting p using chunk c cross join lateral unnest(c.tsv) u
  where c.space = p_space and c.id = any (gone)
    and p.space = p_space and p.lexeme = u.lexeme and p.chunk_id = c.id;
  perform count_terms(p_space, gone, array(select -x from unnest(gone_current) x),
                      array_fill(-1, array[cardinality(gone)]));
  perform drop_unused_terms(p_space, gone);
  delete from chunk c where c.space = p_space and c.document_id = p_document;
  delete from version_chunk vc where vc.space = p_space and vc.document_id = p_document;
  -- The version with which a document ends has no content.
  select count(*) into gone_versions from document_version v
  where v.space = p_space and v.document_id = p_document and v.chunk_count > 0;
  delete from document_version v where v.space = p_space and v.document_id = p_document;
  delete from document d where d.space = p_space and d.document_id = p_document;
  versions := gone_versions;
  ids := gone;
  return next;
end $$;
