-- Stores the chunks that do not exist yet, with their postings; returns these.
with made as (
  insert into chunk (space, id, document_id, title, content, tsv, length, current)
  select $1, u.id, u.document_id, u.title, u.content, u.tsv,
         (select coalesce(sum(cardinality(w.positions)), 0) from unnest(u.tsv) w), u.current
  from (
    select k.*, chunk_words(s.language, k.title || E'\n' || k.content) as tsv
    from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[])
           as k (id, document_id, title, content, current)
    join space_stats s on s.space = $1
  ) u
  on conflict (space, id) do nothing
  returning id, tsv, length, current
), posted as (
  insert into posting (space, lexeme, chunk_id, tf, length, current)
  select $1, w.lexeme, m.id, cardinality(w.positions), m.length, m.current
  from made m cross join lateral unnest(m.tsv) w
)
select id, length, current from made
