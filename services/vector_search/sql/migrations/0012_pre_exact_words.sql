-- Searches by words are all but always exact: as many of the frequent words bring candidates as are needed to be sure of the
-- hits, where that does not take too many postings or candidates. Searches by both meaning and words read fewer postings.

drop function weighted_terms(text, text[], bigint, bigint, bigint);
drop function text_candidates(
  text, text[], float8[], float8, integer, boolean, timestamptz, text[], jsonb);
drop function text_leg(
  text, text[], float8[], integer, float8, tsquery, integer, boolean, timestamptz, text[], jsonb, uuid[]);

-- Postings that the rarest words of a search by words may have to bring its first candidates.
create or replace function text_cap() returns bigint language sql immutable as 'select 1000::bigint';

-- Postings that a search by words reads at most to be exact. Where its words have no more, every chunk is compared.
create or replace function text_reach() returns bigint language sql immutable as 'select 15000::bigint';

-- As text_cap(), for searches by both meaning and words: their hits are among the best of either list by far.
create function fused_text_cap() returns bigint language sql immutable as 'select 2000::bigint';

-- Those of the given lexemes that the space knows, rarest first, with their weights.
-- `head` is how many of them bring candidates at first: all, if their postings together are within p_reach; else those
-- whose postings together stay within p_cap, at least one. `costs` are the postings of each with those before it,
-- `rests` the most that those after it can add to a score.
create function weighted_terms(p_space text, p_lexemes text[], p_n bigint, p_cap bigint, p_reach bigint default 0)
returns table (lexemes text[], weights float8[], head integer, costs bigint[], rests float8[])
language sql stable as $$
  select array_agg(t.lexeme order by t.place), array_agg(t.weight order by t.place),
         coalesce(max(t.place) filter (where t.cost <= p_cap or t.place = 1 or t.all_cost <= p_reach), 0)::integer,
         array_agg(t.cost order by t.place), array_agg(t.rest order by t.place)
  from (
    select w.lexeme, w.weight, row_number() over by_cost as place, (sum(w.postings) over by_cost)::bigint as cost,
           sum(w.postings) over () as all_cost,
           -- A posting adds less than 2.5 times its weight, however often its chunk has the word.
           2.5::float8 * coalesce(sum(w.weight) over (by_cost rows between 1 following and unbounded following), 0) as rest
    from (
      select k.lexeme, k.postings, ln(1 + (greatest(p_n, k.df) - k.df + .5) / (k.df + .5))::float8 as weight
      from unnest(p_lexemes) u (lexeme)
      cross join lateral (
        select t.lexeme, t.df, t.postings from term t where t.space = p_space and t.lexeme = u.lexeme offset 0
      ) k
    ) w
    window by_cost as (order by w.postings, w.lexeme)
  ) t
$$;

-- The best chunks by the rarest terms, p_limit of them, with their scores by these terms, none below p_floor: candidates
-- for exact scoring.
-- p_plain: only current chunks, and no filters; else each of them is looked at, best first, until enough pass.
create function text_candidates(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_limit integer, p_floor float8,
  p_plain boolean, p_at timestamptz, p_documents text[], p_metadata jsonb,
  out ids uuid[], out scores float8[]
) language plpgsql stable as $$
begin
  if p_plain then
    select array_agg(x.chunk_id), array_agg(x.score) into ids, scores from (
      select p.chunk_id,
        sum(q.weight * p.tf * 2.5::float8 / (p.tf + 0.375::float8 + p.length * (1.125::float8 / p_average))) as score
      from unnest(p_lexemes, p_weights) as q (lexeme, weight)
      cross join lateral (
        select k.chunk_id, k.tf, k.length from posting k
        where k.space = p_space and k.lexeme = q.lexeme and k.current offset 0
      ) p
      group by p.chunk_id
      having sum(q.weight * p.tf * 2.5::float8 / (p.tf + 0.375::float8 + p.length * (1.125::float8 / p_average))) >= p_floor
      order by score desc, p.chunk_id
      limit p_limit
    ) x;
  else
    select array_agg(x.chunk_id), array_agg(x.score) into ids, scores from (
      select s.chunk_id, s.score from (
        select p.chunk_id,
        sum(q.weight * p.tf * 2.5::float8 / (p.tf + 0.375::float8 + p.length * (1.125::float8 / p_average))) as score
        from unnest(p_lexemes, p_weights) as q (lexeme, weight)
        cross join lateral (
          select k.chunk_id, k.tf, k.length from posting k where k.space = p_space and k.lexeme = q.lexeme offset 0
        ) p
        group by p.chunk_id
        having sum(q.weight * p.tf * 2.5::float8 / (p.tf + 0.375::float8 + p.length * (1.125::float8 / p_average))) >= p_floor
        order by score desc, p.chunk_id
        offset 0
      ) s
      where chunk_passes(p_space, s.chunk_id, p_at, p_documents, p_metadata)
      limit p_limit
    ) x;
  end if;
  ids := coalesce(ids, '{}');
end $$;

-- Chunks with their scores by all terms, best first: p_scores are those by the first p_used terms.
create function completed_scores(
  p_space text, p_lexemes text[], p_weights float8[], p_used integer, p_average float8,
  p_ids uuid[], p_scores float8[], p_limit integer, out ids uuid[], out scores float8[]
) language sql stable as $$
  select array_agg(b.id), array_agg(b.total) from (
    select x.id, sum(x.score) as total from (
      select * from unnest(p_ids, p_scores) u (id, score)
      union all
      select * from text_scores(p_space, p_lexemes[p_used + 1:], p_weights[p_used + 1:], p_average, p_ids)
    ) x (id, score)
    group by x.id order by total desc, x.id limit p_limit) b
$$;

-- The text leg from the query's terms to scored chunks, best first; p_phrase, where given, is what they must hold.
-- Terms as weighted_terms gives them: the rarest bring candidates, which the others are looked up for. With a p_reach,
-- more of them bring candidates until no other chunk can be among the hits, as long as so many postings are enough.
create function text_leg(
  p_space text, p_lexemes text[], p_weights float8[], p_head integer, p_costs bigint[], p_rests float8[], p_reach bigint,
  p_average float8, p_phrase tsquery, p_limit integer,
  p_plain boolean, p_at timestamptz, p_documents text[], p_metadata jsonb, p_eligible uuid[]
) returns table (id uuid, score float8) language plpgsql stable as $$
declare
  terms constant integer := cardinality(p_lexemes);
  few constant integer := greatest(text_pool(), p_limit);
  listed uuid[] := p_eligible;
  used integer := p_head;
  candidates record;
  found_best record;
  bar float8;
begin
  if p_phrase is not null then
    listed := phrase_chunks(p_space, p_lexemes, p_phrase, p_eligible, p_plain, p_at, p_documents, p_metadata);
  end if;
  if listed is not null then
    return query select s.id, s.score
      from text_scores(p_space, p_lexemes, p_weights, p_average, listed) s
      order by s.score desc, s.id limit p_limit;
    return;
  end if;
  loop
    select * into candidates from text_candidates(
      p_space, p_lexemes[1:used], p_weights[1:used], p_average, few, 0, p_plain, p_at, p_documents, p_metadata);
    -- The rare words may be in fewer chunks than were asked for: then more frequent ones bring candidates too.
    exit when used = terms or cardinality(candidates.ids) >= p_limit;
    used := used + 1;
  end loop;
  if used < terms and p_reach > 0 then
    -- What the last hit has at least, but for the order of additions.
    select * into found_best from completed_scores(
      p_space, p_lexemes, p_weights, used, p_average, candidates.ids[1:3 * p_limit], candidates.scores[1:3 * p_limit], p_limit);
    bar := found_best.scores[p_limit] * 0.999999;
    -- A chunk with none of the words that brought candidates has p_rests[used] at most; one with few of them is not
    -- completed where that cannot lift it over the bar. The less the rests are, the fewer are.
    while used < terms and p_rests[used] > bar * 0.7 and p_costs[used + 1] <= p_reach loop
      used := used + 1;
    end loop;
    select * into candidates from text_candidates(
      p_space, p_lexemes[1:used], p_weights[1:used], p_average, case when p_plain and p_rests[used] < bar then 10 * few else few end,
      bar - p_rests[used], p_plain, p_at, p_documents, p_metadata);
  end if;
  if used = terms then
    return query select * from unnest(candidates.ids[1:p_limit], candidates.scores[1:p_limit]);
  else
    select * into found_best from completed_scores(
      p_space, p_lexemes, p_weights, used, p_average, candidates.ids, candidates.scores, p_limit);
    return query select * from unnest(found_best.ids, found_best.scores);
  end if;
end $$;

-- As before, with plans made once a session: the planner would else look at every partition at every call.
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
  only_v uuid[];
  only_t uuid[];
  listed_v integer := 0;
  listed_t integer := 0;
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
    listed_v := coalesce(cardinality(v_ids), 0);
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
      listed_t := coalesce(cardinality(t_ids), 0);
    end if;
  end if;

  if hybrid and used_path > 0 then
    -- What one leg found gets its exact score of the other.
    only_t := array(select unnest(t_ids) except select unnest(v_ids));
    only_v := array(select unnest(v_ids) except select unnest(t_ids));
    select v_ids || array_agg(m.id order by m.score desc, m.id), v_scores || array_agg(m.score order by m.score desc, m.id)
    into v_ids, v_scores from cosines(own.id, p_space, p_query, only_t) m;
    select t_ids || array_agg(m.id order by m.score desc, m.id), t_scores || array_agg(m.score order by m.score desc, m.id)
    into t_ids, t_scores from (
      select x.id, sum(x.score) as score from (
        select u.id, 0::float8 from unnest(only_v) u (id)
        union all
        select * from text_scores(
          p_space, coalesce(terms.lexemes, '{}'), coalesce(terms.weights, '{}'), average, only_v)
      ) x (id, score)
      group by x.id) m;
    part_t := p_text_weight;
  else
    part_t := 1;
  end if;
  part_v := 1 - part_t;
  top_t := t_scores[1];

  return query
  with v as materialized (
    select u.id, u.score, case when u.place <= listed_v then u.place::integer end as place
    from unnest(v_ids, v_scores) with ordinality u (id, score, place)
  ), t as materialized (
    select u.id, u.score, case when u.place <= listed_t then u.place::integer end as place
    from unnest(t_ids, t_scores) with ordinality u (id, score, place)
  ), both_lists as (
    select coalesce(v.id, t.id) as id, v.score as vector, t.score as text,
           v.place as vector_rank, t.place as text_rank,
           case when p_fusion = 2 then coalesce(1.0::float8 / (60 + v.place), 0)
                else greatest(v.score, 0) end as vector_fused,
           case when p_fusion = 2 then coalesce(1.0::float8 / (60 + t.place), 0)
                when top_t > 0 then t.score / top_t else 0 end as text_fused
    from v full join t on t.id = v.id
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
