-- Words beside typographic punctuation, in other spellings and in great number.

-- A text as it is parted into words: its letters in one spelling (NFKC: é may be one character or two, ﬁ is f and i), typographic
-- apostrophes and hyphens as those of ASCII, and spaces for other punctuation, which the parser of a database that knows
-- the letters of ASCII alone takes for letters. Marks that are not seen are left out; an emoji is a word.
create function in_one_spelling(p_text text) returns text language sql immutable strict as $$
  select case
    -- No words: marks piled up without end take the square of their number.
    when t.parted ~ '[^\x01-\x7f[:space:]]{255}' then t.parted
    else normalize(t.parted, nfkc) end
  from (
    select regexp_replace(
      translate(p_text, E'\u00b4\u02bc\u2018\u2019\u2010\u2011\u00ad\u200e\u200f\u2060\ufe0f\ufeff', '''''''''--'),
      '([\u2600-\u27bf\U0001f000-\U0001faff](?:\u200d[\u2600-\u27bf\U0001f000-\U0001faff])*)'
      '|(?![\x01-\x7f])[[:punct:][:space:]\u200b\u202a-\u202e\u2066-\u2069]',
      ' \1 ', 'g') as parted
    offset 0
  ) t
$$;

-- As before, in the spelling above. ASCII, as most text is, has no other.
create or replace function parted(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    case when octet_length(p_text) = length(p_text) then p_text else in_one_spelling(p_text) end,
    -- Neither space nor punctuation: letters of any script, where a database knows those of ASCII alone. What stands before is
    -- taken along: looking back from each character takes ten times as long.
    '([^[:space:][:punct:]])(?:[/@](?=[^[:space:][:punct:]])|-(?=[[:digit:]]))'
    '|([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]]{2})',
    '\1\2 ', 'g')
$$;

-- A text of which the last word may be a beginning: after a full stop one letter of it is enough, as in `node.j`.
create function begun(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    p_text,
    '([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]][[:space:]]*$)',
    '\1 ')
$$;

-- As before, but for that. Chunks of before have joined words: a query looks for both, and completes both.
create or replace function query_lexemes(p_space text, p_language regconfig, p_text text, p_prefix boolean) returns text[]
language plpgsql stable as $$
declare
  words tsvector := text_words(p_language, case when p_prefix then begun(p_text) else p_text end);
  lexemes text[] := tsvector_to_array(words || to_tsvector(p_language, p_text));
begin
  if not p_prefix then
    return lexemes;
  end if;
  return array(
    with last_word as (
      select u.lexeme, u.positions[cardinality(u.positions)] as place
      from unnest(text_words('simple', begun(p_text))) u order by place desc limit 1
    ), beginnings as (
      select w.lexeme from last_word w
      union
      select u.lexeme from unnest(words) u join last_word w on w.place = any (u.positions)
      union
      (select u.lexeme from unnest(text_words('simple', p_text)) u
       where begun(p_text) <> p_text order by u.positions[cardinality(u.positions)] desc limit 1)
    ), completed as (
      select distinct t.lexeme, t.postings from beginnings b
      join term t on t.space = p_space and t.lexeme >= b.lexeme and t.lexeme < b.lexeme || chr(1114111)
      where t.postings > 0
      order by t.postings desc, t.lexeme limit 50
    )
    select unnest(lexemes) union select c.lexeme from completed c);
end $$;

-- As before; each word is looked up in the others at once, where there may be hundreds.
create or replace function completed_weights(p_space text, p_words text[], p_lexemes text[], p_weights float8[], p_n bigint)
returns float8[] language sql stable as $$
  with all_of_them as (
    select least(p_n, coalesce(sum(t.df), 0)) as df from unnest(p_lexemes) u (lexeme)
    cross join lateral (
      select k.df from term k where k.space = p_space and k.lexeme = u.lexeme offset 0
    ) t
    where u.lexeme not in (select unnest(p_words))
  )
  select array_agg(
    case when u.lexeme in (select unnest(p_words)) then u.weight
         else least(u.weight, ln(1 + (p_n - a.df + .5) / (a.df + .5))) end order by u.place)
  from unnest(p_lexemes, p_weights) with ordinality u (lexeme, weight, place) cross join all_of_them a
$$;

-- As before, in a time that grows with the number of words, not with its square.
create or replace function weighted_terms(p_space text, p_lexemes text[], p_n bigint, p_cap bigint, p_reach bigint default 0)
returns table (lexemes text[], weights float8[], head integer, costs bigint[], rests float8[])
language sql stable as $$
  select array_agg(t.lexeme order by t.place), array_agg(t.weight order by t.place),
         coalesce(max(t.place) filter (where t.cost <= p_cap or t.place = 1 or t.all_cost <= p_reach), 0)::integer,
         array_agg(t.cost order by t.place), array_agg(t.rest order by t.place)
  from (
    select w.lexeme, w.weight, row_number() over by_cost as place, (sum(w.postings) over by_cost)::bigint as cost,
           sum(w.postings) over () as all_cost,
           -- A posting adds less than 2.5 times its weight, however often its chunk has the word.
           2.5::float8 * coalesce(sum(w.weight) over dearer, 0) as rest
    from (
      select k.lexeme, k.postings, ln(1 + (greatest(p_n, k.df) - k.df + .5) / (k.df + .5))::float8 as weight
      from unnest(p_lexemes) u (lexeme)
      cross join lateral (
        select t.lexeme, t.df, t.postings from term t where t.space = p_space and t.lexeme = u.lexeme offset 0
      ) k
    ) w
    window by_cost as (order by w.postings, w.lexeme),
           -- Those after it, summed up from the last one: sums that lose their first value are made anew for each row.
           dearer as (order by w.postings desc, w.lexeme desc rows between unbounded preceding and 1 preceding)
  ) t
$$;

-- As before, likewise.
create or replace function text_leg(
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
  enough float8;
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
    -- The rare words may be in fewer chunks than were asked for: then more frequent ones bring candidates too, one more or
    -- as many as have half as many postings as all before.
    exit when used = terms or cardinality(candidates.ids) >= p_limit;
    enough := p_costs[used] * 1.5;
    used := used + 1;
    while used < terms and p_costs[used + 1] <= enough loop
      used := used + 1;
    end loop;
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

-- A fused search in which words weigh less counts the best score by words among what it found as 1, whichever list brought it.

drop function contenders(uuid[], float8[], uuid[], float8[], integer, float8, integer, float8, integer);

-- Those of two lists, each with its leg's p_pool best at most, that can be among the p_limit best of the fused: what is known
-- of them, null where a list has not got them. A list with less than p_pool has all that its leg can find. Beyond a full one,
-- a score by words is at most the list's last, or p_text_rest where some words brought no candidates; one by meaning is
-- taken to be at most that in the list's middle, as an index may have missed some that belong into its better half.
-- p_top is the score by words that counts 1.
create function contenders(
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
    select b.lowest * 0.999999 as score from bounded b order by b.lowest desc offset p_limit - 1 limit 1
  )
  select array_agg(b.id), array_agg(b.vector), array_agg(b.text), array_agg(b.vector_place), array_agg(b.text_place)
  from bounded b
  where p_fusion = 0 or b.highest >= coalesce((select score from bar), 0)
$$;

-- As before, but for that: no share of the best score by words is above 1.
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
  light boolean;
  reach bigint;
  used_path integer := 0;
  v_ids uuid[] := '{}';
  v_scores float8[] := '{}';
  t_ids uuid[] := '{}';
  t_scores float8[] := '{}';
  t_rest float8 := 0;
  hits record;
  top_t float8;
  was_top float8;
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
  top_t := t_scores[1];
  if hybrid and used_path > 0 then
    loop
      select * into hits from contenders(v_ids, v_scores, t_ids, t_scores, pool, t_rest, p_fusion, part_t, p_limit, top_t);
      -- What one leg found gets its exact score of the other.
      select * into hits from completed(
        hits.ids, hits.vectors, hits.texts, hits.vector_places, hits.text_places,
        own.id, p_space, p_query, terms.lexemes, terms.weights, average);
      -- Where rare words alone brought candidates, one found by meaning may be the best by words: others are then the hits,
      -- but for the order of additions.
      was_top := top_t;
      top_t := greatest(top_t, (select max(u.text) from unnest(hits.texts) u (text)));
      exit when p_fusion = 2 or top_t <= was_top * 1.000001 or was_top is null;
    end loop;
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
