-- A fused search in which words weigh half or more, or in which ranks are fused, finds the chunks that a search by words alone
-- finds, with their ranks: it took candidates of the rarest words only, and lost the best where all words are common.
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
  -- Where meaning weighs more, hits are found in more candidates than are hits, and those by words need not be the best to the
  -- last. Where words weigh as much, or their ranks count, they are the hits.
  light boolean := hybrid and p_fusion = 1 and p_text_weight < 0.5;
  reach bigint := case when light then 0 else text_reach() end;
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
      case when light then fused_text_cap() else text_cap() end, reach);
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
