-- Chunks and statistics of an imported space.

-- Stores exported chunks with their postings, except those that exist, and counts their terms.
create or replace function import_chunks(p_space text, p_rows text[]) returns void
language plpgsql as $$
begin
  perform import_rows('chunk', p_space, p_rows);
  with posted as (
    insert into posting (space, lexeme, chunk_id, tf, length, current)
    select p_space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
    from unnest(p_rows) r
    join chunk c on c.space = p_space and c.id = (r::jsonb->>'id')::uuid
    cross join lateral unnest(c.tsv) w
    on conflict do nothing
    returning lexeme, current
  )
  insert into term as t (space, lexeme, df, postings)
  select p_space, p.lexeme, count(*) filter (where p.current), count(*) from posted p
  group by p.lexeme order by p.lexeme collate "C"
  on conflict (space, lexeme) do update set df = t.df + excluded.df, postings = t.postings + excluded.postings;
end $$;

-- Gives a space its state as exported. Its revision is one that it never had.
create or replace function import_space(p_space text, p_row text) returns void
language plpgsql as $$
declare
  given jsonb := p_row::jsonb;
  active smallint;
begin
  perform pg_advisory_xact_lock(space_lock(p_space));
  select m.id into active from jsonb_to_recordset(given->'models') as g (name text, dimension integer, active boolean)
  join model m on m.name = g.name and m.dimension = g.dimension where g.active;
  insert into space_stats as s (space, model_id, language, revision, documents, chunks, n, total, next_change)
  values (p_space, active, (given->>'language')::regconfig, 1, (given->>'documents')::bigint, (given->>'chunks')::bigint,
          (given->>'n')::bigint, (given->>'total')::bigint, (given->>'next_change')::timestamptz)
  on conflict (space) do update set model_id = excluded.model_id, language = excluded.language, revision = s.revision + 1,
    documents = excluded.documents, chunks = excluded.chunks, n = excluded.n, total = excluded.total,
    next_change = excluded.next_change;
  insert into space_model (space, model_id)
  select p_space, m.id from jsonb_to_recordset(given->'models') as g (name text, dimension integer, active boolean)
  join model m on m.name = g.name and m.dimension = g.dimension where not g.active
  on conflict do nothing;
end $$;

-- A page of a space's vectors of a model by chunk, whether they are in the index yet or not.
create or replace function export_embeddings(p_model smallint, p_space text, p_after uuid, p_limit integer)
returns table (exported jsonb, key jsonb) language plpgsql stable as $$
begin
  return query execute format(
    'select jsonb_build_object(''chunk_id'', e.chunk_id, ''model'', m.name, ''dimension'', m.dimension, ''embedding'', e.embedding::text),
            jsonb_build_array(e.chunk_id)
     from (
       (select i.chunk_id, i.embedding from %I i where i.space = $1 and ($2 is null or i.chunk_id > $2) order by i.chunk_id limit $3)
       union all
       (select u.chunk_id, u.embedding from %I u where u.space = $1 and ($2 is null or u.chunk_id > $2) order by u.chunk_id limit $3)
     ) e cross join model m
     where m.id = $4
     order by e.chunk_id limit $3',
    indexed(p_model), unindexed(p_model)) using p_space, p_after, p_limit, p_model;
end $$;

-- Stores exported vectors of a space's chunks, except those that exist.
create or replace function import_embeddings(p_model smallint, p_space text, p_rows text[]) returns void
language plpgsql as $$
begin
  execute format(
    'insert into %I (space, chunk_id, current, embedding)
     select $1, c.id, c.current, (r::jsonb->>''embedding'')::halfvec
     from unnest($2) r join chunk c on c.space = $1 and c.id = (r::jsonb->>''chunk_id'')::uuid
     where not exists (select from %I e where e.space = $1 and e.chunk_id = c.id)
     on conflict do nothing',
    unindexed(p_model), indexed(p_model)) using p_space, p_rows;
end $$;
