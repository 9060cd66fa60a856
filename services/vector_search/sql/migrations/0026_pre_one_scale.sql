-- One scale for the scores of all searches: 0 to 1, comparable between queries, and the same for every limit.

-- How many of each list a fused search looks at.
create function fused_pool() returns integer language sql immutable as $$ select 100 $$;

-- The highest limit of the contract. Every search finds as many and answers with the first of them: the hits for a smaller limit
-- are the first of those for a larger one, where an index or a cap on postings would find others, too.
create function max_limit() returns integer language sql immutable as $$ select 50 $$;

-- The BM25 score that counts 1 in a fused score: two thirds of what a chunk of average length has in which each of the query's
-- words stands once, words that the space does not know included. Measured: with two thirds the order of hits is as good as
-- where the best hit counts 1. A last word that is completed counts once: as itself or as its rarest completion, whichever
-- weighs more.
create function full_text_score(
  p_space text, p_language regconfig, p_text text, p_n bigint, p_prefix boolean, p_lexemes text[], p_weights float8[]
) returns float8 language sql stable as $$
  with last_word as (
    select max(u.positions[cardinality(u.positions)]) as place from unnest(query_words('simple', begun(p_text))) u
  ), words as materialized (
    select w.lexeme, ln(1 + (greatest(p_n, d.df) - d.df + .5) / (d.df + .5))::float8 as weight, d.df,
           p_prefix and l.place = any (w.positions) as is_last
    from unnest(query_words(p_language, case when p_prefix then begun(p_text) else p_text end)) w
    cross join last_word l
    cross join lateral (
      select coalesce((select t.df from term t where t.space = p_space and t.lexeme = w.lexeme), 0) as df offset 0
    ) d
  ), completions as (
    select max(u.weight) as weight from unnest(p_lexemes, p_weights) u (lexeme, weight)
    where p_prefix and u.lexeme not in (select w.lexeme from words w)
  )
  select 2.0 / 3 * (
    coalesce(sum(w.weight) filter (where not w.is_last), 0)
    + coalesce(greatest(
        max(w.weight) filter (where w.is_last and (w.df > 0 or c.weight is null)), max(c.weight)), 0))
  from completions c left join words w on true
$$;

-- A sum of parts as a score below 1, in the same order: up to .8 as it is, above bent towards 1.
create function relevance(p_sum float8) returns float8 language sql immutable as $$
  select case when p_sum <= 0.8 then greatest(p_sum, 0) else 1 - 0.2 * exp(greatest(-700, (0.8 - p_sum) / 0.2)) end
$$;

-- p_top is constant for a query now: no chunk beyond the lists changes what others score. They are the same for every limit.
create or replace function contenders(
  p_vector_ids uuid[], p_vector_scores float8[], p_text_ids uuid[], p_text_scores float8[], p_pool integer, p_text_rest float8,
  p_fusion integer, p_text_weight float8, p_limit integer, p_top float8,
  out ids uuid[], out vectors float8[], out texts float8[], out vector_places integer[], out text_places integer[]
) language sql stable as $$
  with unlisted as (
    select case when cardinality(p_vector_ids) < p_pool then 0 else greatest(p_vector_scores[p_pool / 2], 0) end as vector,
           case when cardinality(p_text_ids) < p_pool then 0 else greatest(p_text_scores[p_pool], p_text_rest) end as text
  ), listed as (
    select u.id, max(u.vector) as vector, max(u.text) as text,
           max(u.vector_place)::integer as vector_place, max(u.text_place)::integer as text_place
    from (
      select v.id, v.score as vector, null::float8 as text, v.place as vector_place, null::bigint as text_place
      from unnest(p_vector_ids, p_vector_scores) with ordinality v (id, score, place)
      union all
      select t.id, null, t.score, null, t.place
      from unnest(p_text_ids, p_text_scores) with ordinality t (id, score, place)
    ) u
    group by u.id
  ), bounded as materialized (
    select l.*, b.lowest, b.highest
    from listed l, unlisted, lateral (
      select (1 - p_text_weight) * coalesce(1.0::float8 / (60 + l.vector_place), 0)
             + p_text_weight * coalesce(1.0::float8 / (60 + l.text_place), 0) as by_rank
    ) r, lateral (
      select case when p_fusion = 2 then r.by_rank
                  else (1 - p_text_weight) * greatest(l.vector, 0)
                       + p_text_weight * coalesce(l.text / nullif(p_top, 0), 0) end as lowest,
             case when p_fusion = 2 then r.by_rank
                  else (1 - p_text_weight) * greatest(coalesce(l.vector, unlisted.vector), 0)
                       + p_text_weight * coalesce(coalesce(l.text, unlisted.text) / nullif(p_top, 0), 0) end as highest
    ) b
  ), bar as (
    -- But for the order of additions.
    select b.lowest * 0.999999 as score from bounded b
    order by b.lowest desc offset greatest(p_limit, max_limit()) - 1 limit 1
  )
  select array_agg(b.id), array_agg(b.vector), array_agg(b.text), array_agg(b.vector_place), array_agg(b.text_place)
  from bounded b
  where p_fusion = 0 or b.highest >= coalesce((select score from bar), 0)
$$;

-- As before, on that scale.
drop function search_chunks(
  text, text, halfvec, text, integer, float8, integer, float8, text[], jsonb, timestamptz, integer);
create function search_chunks(
  p_space text, p_text text, p_query halfvec, p_model text, p_limit integer, p_text_weight float8,
  p_fusion integer, p_min_score float8, p_documents text[], p_metadata jsonb, p_as_of timestamptz,
  p_match integer default 1
) returns table (
  revision bigint, path integer, space_model text, space_dimension integer, space_chunks bigint,
  id uuid, score float8, vector float8, text float8, vector_fused float8, text_fused float8,
  vector_rank integer, text_rank integer,
  document_id text, title text, source text, content text, ordinal integer,
  start_char integer, end_char integer, metadata jsonb, valid_from timestamptz, page integer
) language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  stats space_stats;
  own model;
  at timestamptz := coalesce(p_as_of, now());
  is_current boolean;
  plain boolean;
  eligible uuid[];
  hybrid boolean := p_text is not null and p_query is not null;
  -- The same candidates for every limit.
  pool integer := greatest(p_limit, max_limit());
  light boolean;
  reach bigint;
  used_path integer := 0;
  v_ids uuid[] := '{}';
  v_scores float8[] := '{}';
  t_ids uuid[] := '{}';
  t_scores float8[] := '{}';
  t_rest float8 := 0;
  hits record;
  full_t float8;
  terms record;
  lexemes text[];
  phrase tsquery;
  average float8;
  part_v float8;
  part_t float8;
begin
  select * into stats from space_stats s where s.space = p_space;
  if not found or stats.chunks = 0 then
    return query select coalesce(stats.revision, 0), case when p_query is null then 0 else 1 end, null::text, null::integer, 0::bigint,
      null::uuid, null::float8, null::float8, null::float8, null::float8, null::float8, null::integer, null::integer,
      null::text, null::text, null::text, null::text, null::integer, null::integer, null::integer, null::jsonb,
      null::timestamptz, null::integer;
    return;
  end if;
  select * into own from model m where m.id = stats.model_id;
  is_current := p_as_of is null and stats.next_change > now();
  plain := is_current and p_documents is null and p_metadata is null;
  if hybrid then
    pool := fused_pool();
  end if;
  if not plain then
    eligible := eligible_chunks(p_space, at, p_documents, p_metadata, exact_cap());
  end if;

  if p_query is not null and own.name = p_model and own.dimension = vector_dims(p_query) then
    if eligible is not null then
      used_path := 1;
      select array_agg(x.id), array_agg(x.score) into v_ids, v_scores from (
        select c.id, c.score from cosines(own.id, p_space, p_query, eligible) c
        order by c.score desc, c.id limit pool) x;
    elsif plain and stats.n <= exact_cap() then
      used_path := 1;
      select array_agg(x.id), array_agg(x.score) into v_ids, v_scores
      from nearest_exact(own.id, p_space, p_query, pool) x;
    elsif plain then
      used_path := 2;
      select array_agg(x.id order by x.score desc, x.id), array_agg(x.score order by x.score desc, x.id)
      into v_ids, v_scores from nearest_hnsw(own.id, p_space, p_query, pool) x;
      -- The scan gave up before it had enough of this space: nothing may be lost, so everything is compared.
      if coalesce(cardinality(v_ids), 0) < least(pool, stats.n) then
        used_path := 1;
        select array_agg(x.id), array_agg(x.score) into v_ids, v_scores
        from nearest_exact(own.id, p_space, p_query, pool) x;
      end if;
    else
      used_path := 2;
      select array_agg(x.id), array_agg(x.score) into v_ids, v_scores from (
        select h.id, h.score
        from nearest_hnsw_filtered(own.id, p_space, p_query, pool, at, p_documents, p_metadata) h
        order by h.score desc, h.id limit pool) x;
      if coalesce(cardinality(v_ids), 0) < pool then
        used_path := 1;
        eligible := eligible_chunks(p_space, at, p_documents, p_metadata, 2147483646);
        select array_agg(x.id), array_agg(x.score) into v_ids, v_scores from (
          select c.id, c.score from cosines(own.id, p_space, p_query, eligible) c
          order by c.score desc, c.id limit pool) x;
        eligible := null;
      end if;
    end if;
  end if;
  if p_text is not null then
    average := greatest(stats.total, 1)::float8 / greatest(stats.n, 1);
    -- Where meaning weighs more, hits are found in more candidates than are hits, and those by words need not be the best to the
    -- last. Where words weigh as much, or alone, or their ranks count, they are the hits.
    light := hybrid and used_path > 0 and p_fusion = 1 and p_text_weight < 0.5;
    reach := case when light then 0 else text_reach() end;
    if p_match = 2 then
      lexemes := tsvector_to_array(text_words(stats.language, p_text));
      phrase := phraseto_tsquery(stats.language, parted(p_text));
    else
      lexemes := query_lexemes(p_space, stats.language, p_text, p_match = 3);
    end if;
    select * into terms from weighted_terms(p_space, lexemes, stats.n,
      case when light then fused_text_cap() else text_cap() end, reach);
    if p_match = 3 then
      terms.weights := completed_weights(
        p_space, query_lexemes(p_space, stats.language, begun(p_text), false), terms.lexemes, terms.weights, stats.n);
    end if;
    -- A phrase of which a word is unknown is nowhere.
    if terms.lexemes is not null and (p_match <> 2 or cardinality(terms.lexemes) = cardinality(lexemes)) then
      select array_agg(x.id), array_agg(x.score) into t_ids, t_scores
      from text_leg(p_space, terms.lexemes, terms.weights, terms.head, terms.costs, terms.rests, reach, average, phrase,
                    pool, plain, at, p_documents, p_metadata, eligible) x;
      t_rest := terms.rests[terms.head];
    end if;
    -- Chunks of before have joined words, and the phrase in them.
    if p_match = 2 and parted(p_text) <> p_text then
      lexemes := tsvector_to_array(to_tsvector(stats.language, p_text));
      phrase := phraseto_tsquery(stats.language, p_text);
      select * into terms from weighted_terms(p_space, lexemes, stats.n, text_cap(), reach);
      if terms.lexemes is not null and cardinality(terms.lexemes) = cardinality(lexemes) then
        select array_agg(x.id), array_agg(x.score) into t_ids, t_scores from (
          select y.id, max(y.score) as score from (
            select u.id, u.score from unnest(t_ids, t_scores) u (id, score)
            union all
            select l.id, l.score
            from text_leg(p_space, terms.lexemes, terms.weights, terms.head, terms.costs, terms.rests, reach, average, phrase,
                          pool, plain, at, p_documents, p_metadata, eligible) l
          ) y
          group by y.id order by max(y.score) desc, y.id limit pool) x;
      end if;
    end if;
  end if;

  part_t := case when hybrid and used_path > 0 then p_text_weight else 1 end;
  part_v := 1 - part_t;
  if p_text is not null then
    full_t := full_text_score(p_space, stats.language, p_text, stats.n, p_match = 3, terms.lexemes, terms.weights);
  end if;
  if hybrid and used_path > 0 then
    select * into hits from contenders(v_ids, v_scores, t_ids, t_scores, pool, t_rest, p_fusion, part_t, p_limit, full_t);
    -- What one leg found gets its exact score of the other.
    select * into hits from completed(
      hits.ids, hits.vectors, hits.texts, hits.vector_places, hits.text_places,
      own.id, p_space, p_query, terms.lexemes, terms.weights, average);
  else
    select v_ids || t_ids as ids, v_scores as vectors, t_scores as texts,
           array(select generate_subscripts(v_ids, 1)) as vector_places, array(select generate_subscripts(t_ids, 1)) as text_places
    into hits;
  end if;

  return query
  with both_lists as (
    select u.id, u.vector, u.text, u.vector_rank, u.text_rank,
           case when p_fusion = 2 then coalesce(1.0::float8 / (60 + u.vector_rank), 0)
                else greatest(u.vector, 0) end as vector_fused,
           case when p_fusion = 2 then coalesce(1.0::float8 / (60 + u.text_rank), 0)
                when full_t > 0 then u.text / full_t else 0 end as text_fused
    from unnest(hits.ids, hits.vectors, hits.texts, hits.vector_places, hits.text_places)
      u (id, vector, text, vector_rank, text_rank)
  ), fused as (
    select b.id, b.vector, b.text, b.vector_rank, b.text_rank,
           case when p_fusion > 0 and b.vector is not null then b.vector_fused end as vector_fused,
           case when p_fusion > 0 and b.text is not null then b.text_fused end as text_fused,
           case when p_fusion = 0 and b.vector is not null then greatest(b.vector, 0)
                when p_fusion = 2 then part_v * b.vector_fused + part_t * b.text_fused
                else relevance(part_v * b.vector_fused + part_t * b.text_fused) end as score
    from both_lists b
  ), best as materialized (
    select * from fused f
    where (p_fusion = 0 or f.score > 0)
      and (p_min_score is null or case when p_fusion = 0 then coalesce(f.vector, f.score) else f.score end >= p_min_score)
    order by f.score desc, case when p_fusion = 0 then f.vector end desc nulls last, f.id limit p_limit
  )
  select stats.revision, used_path, own.name, own.dimension, stats.n,
         b.id, b.score, b.vector, b.text, b.vector_fused, b.text_fused, b.vector_rank, b.text_rank,
         c.document_id, c.title, c.source, c.content, c.ordinal, c.start_char, c.end_char, c.metadata, c.valid_from,
         c.page
  from (select) one
  left join (best b join chunks_in_view(p_space, array(select x.id from best x), at) c on c.id = b.id) on true
  order by b.score desc, case when p_fusion = 0 then b.vector end desc nulls last, b.id;
end $$;


-- Exact scores of given chunks, one row a chunk that exists; the space's model beside them. `score` is that of a fused search
-- with this weight of words. `vector` is null, and counts nothing, when the query vector is not of the space's model; `text` is 0
-- where none of the words is in the chunk. `in_force` says whether a version of its document has it at the instant.
drop function score_chunks(text, text, halfvec, text, uuid[]);
create function score_chunks(
  p_space text, p_text text, p_query halfvec, p_model text, p_ids uuid[], p_text_weight float8 default 0.3,
  p_at timestamptz default null
) returns table (
  space_model text, space_dimension integer, id uuid, vector float8, text float8, text_fused float8, score float8, in_force boolean
)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  stats space_stats;
  own model;
  terms record;
  full_t float8;
begin
  select * into stats from space_stats s where s.space = p_space;
  select * into own from model m where m.id = stats.model_id;
  if own.id is null then
    return;
  end if;
  select * into terms from weighted_terms(
    p_space, query_lexemes(p_space, stats.language, p_text, false), stats.n, text_cap());
  full_t := full_text_score(p_space, stats.language, p_text, stats.n, false, terms.lexemes, terms.weights);
  return query
    with words as materialized (
      select t.id, t.score from text_scores(
        p_space, coalesce(terms.lexemes, '{}'), coalesce(terms.weights, '{}'),
        greatest(stats.total, 1)::float8 / greatest(stats.n, 1), p_ids) t
    ), meanings as materialized (
      select c.id, c.score from cosines(own.id, p_space, p_query, case
        when own.name = p_model and own.dimension = vector_dims(p_query) then p_ids else '{}' end) c
    )
    select own.name, own.dimension, c.id, m.score, coalesce(w.score, 0),
           x.fused, relevance((1 - p_text_weight) * greatest(coalesce(m.score, 0), 0) + p_text_weight * x.fused),
           chunk_passes(p_space, c.id, coalesce(p_at, now()), null, null)
    from chunk c left join words w on w.id = c.id left join meanings m on m.id = c.id
    cross join lateral (select case when full_t > 0 then coalesce(w.score, 0) / full_t else 0 end as fused) x
    where c.space = p_space and c.id = any (p_ids);
end $$;
