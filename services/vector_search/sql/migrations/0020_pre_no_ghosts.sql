-- Documents without a version are gone: a writer that waited while one was deleted made its row anew, and its next deletion
-- counted it out a second time. And rows are locked in the order of their bytes, whatever the database's own order of text is.

-- Only where something is wrong, for then writers wait: a count that changes meanwhile could not be made right. Readers do not
-- wait. It gives up rather than let all wait that come after it.
set local lock_timeout = '10s';
do $$
declare
  wrong text[] := array(
    select s.space from space_stats s
    left join (
      select d.space, count(*) as documents, count(*) filter (where v.document_id is null) as ghosts
      from document d left join (select distinct x.space, x.document_id from document_version x) v using (space, document_id)
      group by d.space
    ) c on c.space = s.space
    where coalesce(c.ghosts, 0) > 0 or s.documents <> coalesce(c.documents, 0));
begin
  if cardinality(wrong) = 0 then
    return;
  end if;
  lock table document in exclusive mode;
  delete from document d where d.space = any (wrong) and not exists (
    select from document_version v where v.space = d.space and v.document_id = d.document_id);
  update space_stats s set documents = c.documents, revision = s.revision + 1
  from (
    select w.space, (select count(*) from document d where d.space = w.space) as documents from unnest(wrong) w (space)
  ) c
  where s.space = c.space and s.documents <> c.documents;
end $$;

-- As before, but for the order: that of the key, which is that of lock_documents too.
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

-- As before, and only vectors of documents that are locked here are stored: one that is deleted and written again while this
-- waits is not, and its next deletion would not see them.
create or replace function fill_embeddings(
  p_model smallint, p_space text, p_ids uuid[], p_digests text[], p_vectors halfvec[]
) returns bigint language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  locked text[];
  stored bigint;
begin
  locked := array(
    select d.document_id from document d where d.space = p_space and d.document_id in (
      select c.document_id from chunk c where c.space = p_space and c.id = any (p_ids))
    order by d.document_id collate "C" for share);
  execute format(
    'with given as (
       select c.id, c.current, u.vector
       from unnest($2, $3, $4) as u (id, digest, vector)
       join chunk c on c.space = $1 and c.id = u.id
       where c.document_id = any ($5)
         and encode(sha256(convert_to(c.title || E''\n'' || c.content, ''UTF8'')), ''hex'') = u.digest
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
    indexed(p_model), unindexed(p_model)) into stored using p_space, p_ids, p_digests, p_vectors, locked;
  return stored;
end $$;
