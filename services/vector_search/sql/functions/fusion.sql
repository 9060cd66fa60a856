-- Two ranked lists become one.

-- How many of each list a fused search looks at.
create or replace function fused_pool() returns integer language sql immutable as $$ select 100 $$;

-- A sum of parts as a score below 1, in the same order: unchanged up to .8, above it bent towards 1.
create or replace function relevance(p_sum float8) returns float8 language sql immutable as $$
  select case when p_sum <= 0.8 then greatest(p_sum, 0) else 1 - 0.2 * exp(greatest(-700, (0.8 - p_sum) / 0.2)) end
$$;

-- The chunks of two ranked lists that may be among the best p_limit of the fused list: those whose highest possible score reaches
-- the lowest possible score of the last hit. p_top is the BM25 score that counts 1. Candidates are the same for every limit.
create or replace function fusion_candidates(
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
    -- The factor allows for the order of additions.
    select b.lowest * 0.999999 as score from bounded b
    order by b.lowest desc offset greatest(p_limit, max_limit()) - 1 limit 1
  )
  select array_agg(b.id), array_agg(b.vector), array_agg(b.text), array_agg(b.vector_place), array_agg(b.text_place)
  from bounded b
  where p_fusion = 0 or b.highest >= coalesce((select score from bar), 0)
$$;

-- The candidates with their exact scores of both lists. A chunk without a vector of the model keeps null.
create or replace function fusion_scores(
  p_ids uuid[], p_vectors float8[], p_texts float8[], p_vector_places integer[], p_text_places integer[],
  p_model smallint, p_space text, p_query halfvec, p_lexemes text[], p_weights float8[], p_average float8,
  out ids uuid[], out vectors float8[], out texts float8[], out vector_places integer[], out text_places integer[]
) language sql stable as $$
  with known as materialized (
    select * from unnest(p_ids, p_vectors, p_texts, p_vector_places, p_text_places) u (id, vector, text, vector_place, text_place)
  )
  select array_agg(x.id), array_agg(x.vector), array_agg(x.text), array_agg(x.vector_place), array_agg(x.text_place)
  from (
    select u.id, max(u.vector) as vector, coalesce(max(u.text), 0) as text,
           max(u.vector_place) as vector_place, max(u.text_place) as text_place
    from (
      select * from known
      union all
      select m.id, m.score, null, null, null
      from cosines(p_model, p_space, p_query, array(select k.id from known k where k.vector is null)) m
      union all
      select s.id, null, s.score, null, null
      from text_scores(p_space, coalesce(p_lexemes, '{}'), coalesce(p_weights, '{}'), p_average,
                       array(select k.id from known k where k.text is null)) s
    ) u
    group by u.id
  ) x
$$;
