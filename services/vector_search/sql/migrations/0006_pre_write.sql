-- What a write does to statistics and flags. Locks are taken in one order by all writers, so none deadlock:
-- the model's (shared), documents by id, terms by lexeme, the space's row.

-- The advisory lock of a space's model: writers share it, changing the model needs it alone.
create function space_lock(p_space text) returns bigint
language sql immutable as $$ select hashtextextended('braid.space.' || p_space, 0) $$;

-- Makes the space's row, or gives an empty space another model. Called outside of a write's transaction.
create function open_space(p_space text, p_model smallint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  insert into space_stats as s (space, model_id) values (p_space, p_model)
  on conflict (space) do update set model_id = excluded.model_id
  where s.chunks = 0 and s.model_id is distinct from excluded.model_id;
end $$;

-- Gives a space without chunks another text-search configuration; false when it holds chunks of another one.
create function set_language(p_space text, p_language text) returns boolean
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

-- Adds to the terms of chunks: `p_df` and `p_postings` say by how much for each chunk. `p_was`, text vectors that chunks
-- had before, are taken out: from `df` as `p_was_df` says, and from `postings` once.
create function count_terms(
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
      join chunk c on c.space = p_space and c.id = k.id
      cross join lateral unnest(c.tsv) u
      union all
      select u.lexeme, -k.df, -1
      from unnest(p_was, p_was_df) as k (tsv, df) cross join lateral unnest(k.tsv::tsvector) u
    ) x
    group by x.lexeme
  ) d
  where d.df <> 0 or d.postings <> 0
  order by d.lexeme
  on conflict (space, lexeme) do update
    set df = t.df + excluded.df, postings = t.postings + excluded.postings;
end $$;

-- Whether a version of a valid time gives a chunk its title: no later version of the document has the chunk.
create function names_chunk(p_space text, p_chunk uuid, p_valid_from timestamptz) returns boolean
language sql stable as $$
  select not exists (
    select from version_chunk vc
    join document_version v
      on v.space = p_space and v.document_id = vc.document_id and v.version = vc.version
    where vc.space = p_space and vc.chunk_id = p_chunk and v.valid_from > p_valid_from)
$$;

-- Gives chunks the titles of new versions where these name them: text and postings are made anew, vectors removed.
-- Answers with the chunks that changed: the text vector each had, and by how much its length grew.
create function retitle_chunks(p_space text, p_ids uuid[], p_titles text[], p_valid_from timestamptz[])
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
  where c.title <> u.title and names_chunk(p_space, u.id, u.valid_from);
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
    select u.id, u.title, to_tsvector(s.language, u.title || E'\n' || k.content) as tsv
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

-- Removes the terms of chunks that no chunk has any more; their rows are locked by count_terms already.
create function drop_unused_terms(p_space text, p_ids uuid[]) returns void
language sql as $$
  delete from term t
  where t.space = p_space and t.postings = 0 and t.lexeme in (
    select u.lexeme from chunk c cross join lateral unnest(c.tsv) u
    where c.space = p_space and c.id = any (p_ids))
$$;

-- Sets `current` of chunks, everywhere that it is kept, except in the statistics.
create function flag_chunks(p_space text, p_ids uuid[], p_current boolean) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  update chunk c set current = p_current where c.space = p_space and c.id = any (p_ids);
  update posting p set current = p_current
  from chunk c cross join lateral unnest(c.tsv) u
  where c.space = p_space and c.id = any (p_ids)
    and p.space = p_space and p.lexeme = u.lexeme and p.chunk_id = c.id;
  perform flag_embeddings(p_space, p_ids, p_current);
end $$;

-- Removes a document with everything of it but the space's counters; answers with what was removed.
create function remove_document(p_space text, p_document text)
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
  delete from document_version v where v.space = p_space and v.document_id = p_document;
  get diagnostics gone_versions = row_count;
  delete from document d where d.space = p_space and d.document_id = p_document;
  versions := gone_versions;
  ids := gone;
  return next;
end $$;
