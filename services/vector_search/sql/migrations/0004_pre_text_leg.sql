-- The text leg: BM25 (k1 1.5, b 0.75) over postings with the statistics of the space's current chunks.

-- Those of the given lexemes that the space knows, rarest first, with their weights.
-- `head` is how many of them may bring candidates: those whose postings together stay within p_cap, at least one.
create function weighted_terms(p_space text, p_lexemes text[], p_n bigint, p_cap bigint)
returns table (lexemes text[], weights float8[], head integer)
language sql stable as $$
  select array_agg(t.lexeme order by t.place), array_agg(t.weight order by t.place),
         coalesce(max(t.place) filter (where t.cost <= p_cap or t.place = 1), 0)::integer
  from (
    select t.lexeme, ln(1 + (greatest(p_n, t.df) - t.df + .5) / (t.df + .5))::float8 as weight,
           row_number() over by_cost as place, sum(t.postings) over by_cost as cost
    from unnest(p_lexemes) u (lexeme)
    join term t on t.space = p_space and t.lexeme = u.lexeme
    window by_cost as (order by t.postings, t.lexeme)
  ) t
$$;

-- A query's lexemes; with p_prefix also those of the space, the commonest 50, that begin like its last word or its stem.
create function query_lexemes(p_space text, p_language regconfig, p_text text, p_prefix boolean) returns text[]
language plpgsql stable as $$
declare
  lexemes text[] := tsvector_to_array(to_tsvector(p_language, p_text));
begin
  if not p_prefix then
    return lexemes;
  end if;
  return array(
    with last_word as (
      select u.lexeme, u.positions[cardinality(u.positions)] as place
      from unnest(to_tsvector('simple', p_text)) u order by place desc limit 1
    ), beginnings as (
      select w.lexeme from last_word w
      union
      select u.lexeme from unnest(to_tsvector(p_language, p_text)) u join last_word w on w.place = any (u.positions)
    ), completed as (
      select distinct t.lexeme, t.postings from beginnings b
      join term t on t.space = p_space and t.lexeme >= b.lexeme and t.lexeme < b.lexeme || chr(1114111)
      where t.postings > 0
      order by t.postings desc, t.lexeme limit 50
    )
    select unnest(lexemes) union select c.lexeme from completed c);
end $$;

-- BM25 of given chunks for given terms; chunks without any of them are left out.
create function text_scores(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_ids uuid[]
) returns table (id uuid, score float8) language sql stable as $$
  select p.chunk_id,
         sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average)))
  from unnest(p_lexemes, p_weights) as q (lexeme, weight)
  -- One look-up by the whole key for each term, whatever the statistics say: `offset 0` keeps it from being joined
  -- the other way round, which reads every posting of every chunk while a new space has not been analysed yet.
  cross join lateral (
    select o.chunk_id, o.tf, o.length
    from posting o
    where o.space = p_space and o.lexeme = q.lexeme and o.chunk_id = any (p_ids)
    offset 0
  ) p
  group by p.chunk_id
$$;

-- The best chunks by the rarest terms, p_limit of them, with their scores by these terms: candidates for exact scoring.
-- p_plain: only current chunks, and no filters; else each of them is looked at, best first, until enough pass.
create function text_candidates(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_limit integer,
  p_plain boolean, p_at timestamptz, p_documents text[], p_metadata jsonb,
  out ids uuid[], out scores float8[]
) language plpgsql stable as $$
begin
  if p_plain then
    select array_agg(x.chunk_id), array_agg(x.score) into ids, scores from (
      select p.chunk_id, sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average))) as score
      from unnest(p_lexemes, p_weights) as q (lexeme, weight)
      join posting p on p.space = p_space and p.lexeme = q.lexeme
      where p.current
      group by p.chunk_id
      order by score desc, p.chunk_id
      limit p_limit
    ) x;
  else
    select array_agg(x.chunk_id), array_agg(x.score) into ids, scores from (
      select s.chunk_id, s.score from (
        select p.chunk_id, sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average))) as score
        from unnest(p_lexemes, p_weights) as q (lexeme, weight)
        join posting p on p.space = p_space and p.lexeme = q.lexeme
        group by p.chunk_id
        order by score desc, p.chunk_id
        offset 0
      ) s
      where chunk_passes(p_space, s.chunk_id, p_at, p_documents, p_metadata)
      limit p_limit
    ) x;
  end if;
  ids := coalesce(ids, '{}');
end $$;

-- All chunks that hold a phrase, of p_eligible where given: those of its rarest lexeme that have the others too, and
-- have them in order. Filters as in text_candidates.
create function phrase_chunks(
  p_space text, p_lexemes text[], p_phrase tsquery, p_eligible uuid[],
  p_plain boolean, p_at timestamptz, p_documents text[], p_metadata jsonb
) returns uuid[] language sql stable as $$
  with all_words as materialized (
    select p.chunk_id from posting p
    where p.space = p_space and p.lexeme = p_lexemes[1]
      and (p.current or not p_plain) and (p_eligible is null or p.chunk_id = any (p_eligible))
      and not exists (
        select from unnest(p_lexemes[2:]) other (lexeme)
        where not exists (
          select from posting o
          where o.space = p_space and o.lexeme = other.lexeme and o.chunk_id = p.chunk_id))
  ), in_order as materialized (
    select w.chunk_id from all_words w join chunk c on c.space = p_space and c.id = w.chunk_id where c.tsv @@ p_phrase
  )
  select coalesce(array_agg(o.chunk_id), '{}') from in_order o
  where p_plain or p_eligible is not null
     or chunk_passes(p_space, o.chunk_id, p_at, p_documents, p_metadata)
$$;
