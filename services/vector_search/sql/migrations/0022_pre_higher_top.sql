-- A chunk beyond the list by words may be the one whose score counts 1: the bounds of others take it into account.

-- Those of two lists, each with its leg's p_pool best at most, that can be among the p_limit best of the fused: what is known
-- of them, null where a list has not got them. A list with less than p_pool has all that its leg can find. Beyond a full one,
-- a score by words is at most the list's last, or p_text_rest where some words brought no candidates; one by meaning is
-- taken to be at most that in the list's middle, as an index may have missed some that belong into its better half.
-- p_top is the score by words that counts 1. One above the list's first is of a chunk beyond the list: others may have it, too.
create or replace function contenders(
  p_vector_ids uuid[], p_vector_scores float8[], p_text_ids uuid[], p_text_scores float8[], p_pool integer, p_text_rest float8,
  p_fusion integer, p_text_weight float8, p_limit integer, p_top float8,
  out ids uuid[], out vectors float8[], out texts float8[], out vector_places integer[], out text_places integer[]
) language sql stable as $$
  with unlisted as (
    select case when cardinality(p_vector_ids) < p_pool then 0 else greatest(p_vector_scores[p_pool / 2], 0) end as vector,
           case when cardinality(p_text_ids) < p_pool then 0
                else greatest(p_text_scores[p_pool], p_text_rest, case when p_top > p_text_scores[1] then p_top end) end as text
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
    select b.lowest * 0.999999 as score from bounded b order by b.lowest desc offset p_limit - 1 limit 1
  )
  select array_agg(b.id), array_agg(b.vector), array_agg(b.text), array_agg(b.vector_place), array_agg(b.text_place)
  from bounded b
  where p_fusion = 0 or b.highest >= coalesce((select score from bar), 0)
$$;
