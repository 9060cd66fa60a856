-- A second model of a space: its vectors are filled in while the first serves, then it takes over.

-- How many vectors of a model a space has.
create function count_embeddings(p_model smallint, p_space text) returns bigint
language plpgsql stable as $$
declare
  found bigint;
begin
  execute format('select count(*) from %I where space = $1', 'embedding_' || p_model) into found using p_space;
  return found;
end $$;

-- Chunks without a vector of a model, by id, with the text that it is to be made of.
create function unembedded_chunks(p_model smallint, p_space text, p_after uuid, p_limit integer)
returns table (id uuid, content text) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query execute format(
    'select c.id, c.title || E''\n'' || c.content from chunk c
     where c.space = $1 and ($2 is null or c.id > $2)
       and not exists (select from %I e where e.space = $1 and e.chunk_id = c.id)
     order by c.id limit $3',
    'embedding_' || p_model) using p_space, p_after, p_limit;
end $$;

-- Stores vectors of chunks whose text is still the one they were made of; how many of them are stored now.
-- The chunks' documents are locked as by a write, so that none is deleted, renamed or flagged meanwhile.
create function fill_embeddings(
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
    'insert into %I as e (space, chunk_id, current, embedding)
     select $1, c.id, c.current, u.vector
     from unnest($2, $3, $4) as u (id, digest, vector)
     join chunk c on c.space = $1 and c.id = u.id
     where encode(sha256(convert_to(c.title || E''\n'' || c.content, ''UTF8'')), ''hex'') = u.digest
     order by c.id
     on conflict (space, chunk_id) do update set embedding = excluded.embedding',
    'embedding_' || p_model) using p_space, p_ids, p_digests, p_vectors;
  get diagnostics stored = row_count;
  return stored;
end $$;

-- Makes a model the space's own, when all chunks have a vector of it: the new revision, or null when some have none.
-- Waits for running writes of the space, and they for it.
create function activate_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  former smallint;
  raised bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  select s.model_id, s.revision into former, raised from space_stats s where s.space = p_space for update;
  if former = p_model then
    return raised;
  end if;
  if exists (select from unembedded_chunks(p_model, p_space, null, 1)) then
    return null;
  end if;
  insert into space_model (space, model_id) values (p_space, former) on conflict do nothing;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  update space_stats s set model_id = p_model, revision = s.revision + 1 where s.space = p_space
  returning s.revision into raised;
  return raised;
end $$;

-- Removes a space's vectors of a model that is not its own: how many, or null when it is.
create function remove_model(p_model smallint, p_space text) returns bigint
language plpgsql as $$
declare
  removed bigint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  if exists (select from space_stats s where s.space = p_space and s.model_id = p_model) then
    return null;
  end if;
  execute format('delete from %I where space = $1', 'embedding_' || p_model) using p_space;
  get diagnostics removed = row_count;
  delete from space_model m where m.space = p_space and m.model_id = p_model;
  return removed;
end $$;
