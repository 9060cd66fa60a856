-- Of the candidates of a fused search only those get their exact score of the other leg that can be among the hits with it.

-- Those of two lists, each with its leg's p_pool best at most, that can be among the p_limit best of the fused: what is known
-- of them, null where a list has not got them. A list with less than p_pool has all that its leg can find. Beyond a full one,
-- a score by words is at most the list's last, or p_text_rest where some words brought no candidates; one by meaning is
-- taken to be at most that in the list's middle, as an index may have missed some that belong into its better half.
create function contenders(
  p_vector_ids uuid[], p_vector_scores float8[], p_text_ids uuid[], p_text_scores float8[], p_pool integer, p_text_rest float8,
  p_fusion integer, p_text_weight float8, p_limit integer,
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
                       + p_text_weight * coalesce(l.text / nullif(p_text_scores[1], 0), 0) end as lowest,
             case when p_fusion = 2 then r.by_rank
                  else (1 - p_text_weight) * greatest(coalesce(l.vector, unlisted.vector), 0)
                       + p_text_weight * coalesce(coalesce(l.text, unlisted.text) / nullif(p_text_scores[1], 0), 0) end as highest
    ) b
  ), bar as (
    -- But for the order of additions.
    select b.lowest * 0.999999 as score from bounded b order by b.lowest desc offset p_limit - 1 limit 1
  )
  select array_agg(b.id), array_agg(b.vector), array_agg(b.text), array_agg(b.vector_place), array_agg(b.text_place)
  from bounded b
  where p_fusion = 0 or b.highest >= coalesce((select score from bar), 0)
$$;

-- The same candidates with their exact scores of both legs. The vector of one that has none of the model stays null.
create function completed(
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

-- As before, but for that.
create or replace function search_chunks(
  p_space text, p_text text, p_query halfvec, p_model text, p_limit integer, p_text_weight float8,
  p_fusion integer, p_min_score float8, p_documents text[], p_metadata jsonb, p_as_of timestamptz,
  p_match integer default 1
) returns table (
  revision bigint, path integer, space_model text, space_dimension integer,
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
  pool integer := p_limit;
  -- Fused hits are found in more candidates than are hits; those need not be the best to the last.
  reach bigint := case when hybrid then 0 else text_reach() end;
  used_path integer := 0;
  v_ids uuid[] := '{}';
  v_scores float8[] := '{}';
  t_ids uuid[] := '{}';
  t_scores float8[] := '{}';
  t_rest float8 := 0;
  hits record;
  top_t float8;
  terms record;
  lexemes text[];
  phrase tsquery;
  average float8;
  part_v float8;
  part_t float8;
begin
  select * into stats from space_stats s where s.space = p_space;
  if not found or stats.chunks = 0 then
    return query select coalesce(stats.revision, 0), case when p_query is null then 0 else 1 end, null::text, null::integer,
      null::uuid, null::float8, null::float8, null::float8, null::float8, null::float8, null::integer, null::integer,
      null::text, null::text, null::text, null::text, null::integer, null::integer, null::integer, null::jsonb,
      null::timestamptz, null::integer;
    return;
  end if;
  select * into own from model m where m.id = stats.model_id;
  is_current := p_as_of is null and stats.next_change > now();
  plain := is_current and p_documents is null and p_metadata is null;
  if hybrid then
    pool := greatest(100, 4 * p_limit);
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
    lexemes := query_lexemes(p_space, stats.language, p_text, p_match = 3);
    select * into terms from weighted_terms(p_space, lexemes, stats.n,
      case when hybrid then fused_text_cap() else text_cap() end, reach);
    if p_match = 2 then
      phrase := phraseto_tsquery(stats.language, p_text);
    end if;
    -- A phrase of which a word is unknown is nowhere.
    if terms.lexemes is not null and (p_match <> 2 or cardinality(terms.lexemes) = cardinality(lexemes)) then
      select array_agg(x.id), array_agg(x.score) into t_ids, t_scores
      from text_leg(p_space, terms.lexemes, terms.weights, terms.head, terms.costs, terms.rests, reach, average, phrase,
                    pool, plain, at, p_documents, p_metadata, eligible) x;
      t_rest := terms.rests[terms.head];
    end if;
  end if;

  part_t := case when hybrid and used_path > 0 then p_text_weight else 1 end;
  part_v := 1 - part_t;
  top_t := t_scores[1];
  if hybrid and used_path > 0 then
    select * into hits from contenders(v_ids, v_scores, t_ids, t_scores, pool, t_rest, p_fusion, part_t, p_limit);
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
                when top_t > 0 then u.text / top_t else 0 end as text_fused
    from unnest(hits.ids, hits.vectors, hits.texts, hits.vector_places, hits.text_places)
      u (id, vector, text, vector_rank, text_rank)
  ), fused as (
    select b.id, b.vector, b.text, b.vector_rank, b.text_rank,
           case when p_fusion > 0 and b.vector is not null then b.vector_fused end as vector_fused,
           case when p_fusion > 0 and b.text is not null then b.text_fused end as text_fused,
           case when p_fusion = 0 then coalesce(b.vector, b.text)
                else part_v * b.vector_fused + part_t * b.text_fused end as score
    from both_lists b
  ), best as materialized (
    select * from fused f
    where (p_fusion = 0 or f.score > 0) and (p_min_score is null or f.score >= p_min_score)
    order by f.score desc, f.id limit p_limit
  )
  select stats.revision, used_path, own.name, own.dimension,
         b.id, b.score, b.vector, b.text, b.vector_fused, b.text_fused, b.vector_rank, b.text_rank,
         c.document_id, c.title, c.source, c.content, c.ordinal, c.start_char, c.end_char, c.metadata, c.valid_from,
         c.page
  from (select) one
  left join (best b join chunks_in_view(p_space, array(select x.id from best x), at) c on c.id = b.id) on true
  order by b.score desc, b.id;
end $$;
