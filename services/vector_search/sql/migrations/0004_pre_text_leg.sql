-- The text leg: BM25 (k1 1.5, b 0.75) over postings with the statistics of the space's current chunks.

-- The query's lexemes that the space knows, rarest first, with their weights.
-- `head` is how many of them may bring candidates: those whose postings together stay within p_cap, at least one.
create function query_terms(p_space text, p_language regconfig, p_text text, p_n bigint, p_cap bigint)
returns table (lexemes text[], weights float8[], head integer)
language sql stable as $$
  select array_agg(t.lexeme order by t.place), array_agg(t.weight order by t.place),
         coalesce(max(t.place) filter (where t.cost <= p_cap or t.place = 1), 0)::integer
  from (
    select t.lexeme, ln(1 + (greatest(p_n, t.df) - t.df + .5) / (t.df + .5))::float8 as weight,
           row_number() over by_cost as place, sum(t.postings) over by_cost as cost
    from unnest(to_tsvector(p_language, p_text)) u
    join term t on t.space = p_space and t.lexeme = u.lexeme
    window by_cost as (order by t.postings, t.lexeme)
  ) t
$$;

-- BM25 of given chunks for given terms; chunks without any of them are left out.
create function text_scores(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_ids uuid[]
) returns table (id uuid, score float8) language sql stable as $$
  select p.chunk_id,
         sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average)))
  from unnest(p_lexemes, p_weights) as q (lexeme, weight)
  join posting p on p.space = p_space and p.lexeme = q.lexeme and p.chunk_id = any (p_ids)
  group by p.chunk_id
$$;

-- The best chunks by the rarest terms, p_limit of them: candidates for exact scoring.
create function text_candidates(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_limit integer,
  p_current boolean, p_at timestamptz, p_documents text[], p_metadata jsonb
) returns uuid[] language plpgsql stable as $$
declare
  ids uuid[];
begin
  if p_current then
    select array_agg(x.chunk_id) into ids from (
      select p.chunk_id
      from unnest(p_lexemes, p_weights) as q (lexeme, weight)
      join posting p on p.space = p_space and p.lexeme = q.lexeme
      where p.current
      group by p.chunk_id
      order by sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average))) desc, p.chunk_id
      limit p_limit
    ) x;
  else
    select array_agg(x.chunk_id) into ids from (
      select p.chunk_id
      from unnest(p_lexemes, p_weights) as q (lexeme, weight)
      join posting p on p.space = p_space and p.lexeme = q.lexeme
      group by p.chunk_id
      having chunk_passes(p_space, p.chunk_id, p_at, p_documents, p_metadata)
      order by sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / p_average))) desc, p.chunk_id
      limit p_limit
    ) x;
  end if;
  return coalesce(ids, '{}');
end $$;
