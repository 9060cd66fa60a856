-- The searches: one function, one round trip, from query to hits with their chunk and document version.

-- The highest limit of the contract. Every search finds as many and returns the first of them, so that the hits for a smaller
-- limit are the first of those for a larger one.
create or replace function max_limit() returns integer language sql immutable as $$ select 50 $$;

-- Chunks with the version of their document that is in view at an instant; failing that, the latest that has them.
create or replace function chunks_in_view(p_space text, p_ids uuid[], p_at timestamptz)
returns table (
  id uuid, document_id text, title text, source text, content text, ordinal integer,
  start_char integer, end_char integer, metadata jsonb, valid_from timestamptz, page integer
) language sql stable as $$
  select u.id, c.document_id, v.title, v.source, c.content, v.ordinal,
         v.start_char, v.end_char, v.metadata, v.valid_from, v.page
  from unnest(p_ids) u (id)
  cross join lateral (
    select k.document_id, k.content from chunk k where k.space = p_space and k.id = u.id offset 0
  ) c
  cross join lateral (
    select dv.title, dv.source, dv.metadata, coalesce(vc.valid_from, dv.valid_from) as valid_from,
           vc.ordinal, vc.start_char, vc.end_char, vc.page
    from (
      select k.document_id, k.version, k.ordinal, k.start_char, k.end_char, k.page, k.valid_from
      from version_chunk k where k.space = p_space and k.chunk_id = u.id offset 0
    ) vc
    cross join lateral (
      select d.title, d.source, d.metadata, d.valid_from, d.valid_until from document_version d
      where d.space = p_space and d.document_id = vc.document_id and d.version = vc.version offset 0
    ) dv
    order by dv.valid_from <= p_at and dv.valid_until > p_at and (vc.valid_from is null or vc.valid_from <= p_at) desc,
             dv.valid_from desc
    limit 1
  ) v
$$;

-- A search by meaning (p_query alone), by words (p_text alone), or by both, fused.
-- p_fusion: 0 one list, 1 weighted scores (cosine from 0 up; BM25 as a share of full_text_score), 2 weighted reciprocal ranks.
-- p_match: 1 any of the words, 2 all of them in order (a phrase), 3 any, the last one as a prefix; 2 and 3 are for searches by
-- words. There is always at least one row: it carries revision, vector path (0 not run, 1 exact, 2 HNSW), the space's model and
-- how many chunks it has, and no chunk where none was found. A query vector of another model or dimension is not used: path 0.
-- Everything is looked up by key, whatever the planner's statistics say: they lag behind bulk loads.
create or replace function search_chunks(
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
      -- The scan ended before it had enough of this space: everything is compared.
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
    -- Where the vector weighs more, the text list need not be exact to the last place. Otherwise its places decide the hits.
    light := hybrid and used_path > 0 and p_fusion = 1 and p_text_weight < 0.5;
    reach := case when light then 0 else text_reach() end;
    if p_match = 2 then
      lexemes := tsvector_to_array(text_words(stats.language, p_text));
      phrase := phraseto_tsquery(stats.language, split_words(p_text));
    else
      lexemes := query_lexemes(p_space, stats.language, p_text, p_match = 3);
    end if;
    select * into terms from weighted_terms(p_space, lexemes, stats.n,
      case when light then fused_text_cap() else text_cap() end, reach);
    if p_match = 3 then
      terms.weights := completed_weights(
        p_space, query_lexemes(p_space, stats.language, split_prefix(p_text), false), terms.lexemes, terms.weights, stats.n);
    end if;
    -- A phrase with an unknown word matches nothing.
    if terms.lexemes is not null and (p_match <> 2 or cardinality(terms.lexemes) = cardinality(lexemes)) then
      select array_agg(x.id), array_agg(x.score) into t_ids, t_scores
      from text_leg(p_space, terms.lexemes, terms.weights, terms.head, terms.costs, terms.rests, reach, average, phrase,
                    pool, plain, at, p_documents, p_metadata, eligible) x;
      t_rest := terms.rests[terms.head];
    end if;
    -- The phrase also as PostgreSQL's own parser reads it, which keeps joined words together.
    if p_match = 2 and split_words(p_text) <> p_text then
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
    select * into hits from fusion_candidates(v_ids, v_scores, t_ids, t_scores, pool, t_rest, p_fusion, part_t, p_limit, full_t);
    -- Each chunk gets its exact score of the list that it was not on.
    select * into hits from fusion_scores(
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

-- Exact cosine, BM25 and fused score of given chunks, and whether each is in force at an instant.
create or replace function score_chunks(
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
