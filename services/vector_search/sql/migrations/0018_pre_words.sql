-- What searches by words take for a word, and how words weigh.

-- A text with spaces for what joins words: `checkout/payments`, `user@example.org`, `node.js`, `INC-104` would be one word each,
-- or a word and a negative number, and be found by none of their parts.
create function parted(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    p_text,
    -- Neither space nor punctuation: letters of any script, where a database knows those of ASCII alone. What stands before is
    -- taken along: looking back from each character takes ten times as long.
    '([^[:space:][:punct:]])(?:[/@](?=[^[:space:][:punct:]])|-(?=[[:digit:]]))'
    '|([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]]{2})',
    '\1\2 ', 'g')
$$;

-- The words of a chunk, with their places.
create function text_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select to_tsvector(p_language, parted(p_text))
$$;

-- As before, but for that. Chunks of before have joined words: a query looks for both.
create or replace function query_lexemes(p_space text, p_language regconfig, p_text text, p_prefix boolean) returns text[]
language plpgsql stable as $$
declare
  words tsvector := text_words(p_language, p_text);
  lexemes text[] := tsvector_to_array(words || to_tsvector(p_language, p_text));
begin
  if not p_prefix then
    return lexemes;
  end if;
  return array(
    with last_word as (
      select u.lexeme, u.positions[cardinality(u.positions)] as place
      from unnest(text_words('simple', p_text)) u order by place desc limit 1
    ), beginnings as (
      select w.lexeme from last_word w
      union
      select u.lexeme from unnest(words) u join last_word w on w.place = any (u.positions)
    ), completed as (
      select distinct t.lexeme, t.postings from beginnings b
      join term t on t.space = p_space and t.lexeme >= b.lexeme and t.lexeme < b.lexeme || chr(1114111)
      where t.postings > 0
      order by t.postings desc, t.lexeme limit 50
    )
    select unnest(lexemes) union select c.lexeme from completed c);
end $$;

-- The weights of a query's terms, of which all but `p_words` complete its last word: these weigh as the one word that they stand
-- for, or a rare one would count for more than the word itself.
create function completed_weights(p_space text, p_words text[], p_lexemes text[], p_weights float8[], p_n bigint)
returns float8[] language sql stable as $$
  with all_of_them as (
    select least(p_n, coalesce(sum(t.df), 0)) as df from unnest(p_lexemes) u (lexeme)
    cross join lateral (
      select k.df from term k where k.space = p_space and k.lexeme = u.lexeme offset 0
    ) t
    where u.lexeme <> all (p_words)
  )
  select array_agg(
    case when u.lexeme = any (p_words) then u.weight
         else least(u.weight, ln(1 + (p_n - a.df + .5) / (a.df + .5))) end order by u.place)
  from unnest(p_lexemes, p_weights) with ordinality u (lexeme, weight, place) cross join all_of_them a
$$;

-- As before, with the words as above.
create or replace function retitle_chunks(p_space text, p_ids uuid[], p_titles text[], p_valid_from timestamptz[])
returns table (id uuid, was text, length_change integer, current boolean)
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  stale uuid[];
  titles text[];
  was_tsv text[];
  was_length integer[];
begin
  select array_agg(c.id), array_agg(u.title), array_agg(c.tsv::text), array_agg(c.length)
  into stale, titles, was_tsv, was_length
  from unnest(p_ids, p_titles, p_valid_from) u (id, title, valid_from)
  join chunk c on c.space = p_space and c.id = u.id
  where c.title <> u.title and names_chunk(p_space, u.id, u.valid_from);
  if stale is null then
    return;
  end if;
  delete from posting p
  using chunk c cross join lateral unnest(c.tsv) w
  where c.space = p_space and c.id = any (stale)
    and p.space = p_space and p.lexeme = w.lexeme and p.chunk_id = c.id;
  update chunk c set title = n.title, tsv = n.tsv,
    length = (select coalesce(sum(cardinality(w.positions)), 0) from unnest(n.tsv) w)
  from (
    select u.id, u.title, text_words(s.language, u.title || E'\n' || k.content) as tsv
    from unnest(stale, titles) u (id, title)
    join chunk k on k.space = p_space and k.id = u.id
    join space_stats s on s.space = p_space
  ) n
  where c.space = p_space and c.id = n.id;
  insert into posting (space, lexeme, chunk_id, tf, length, current)
  select p_space, w.lexeme, c.id, cardinality(w.positions), c.length, c.current
  from chunk c cross join lateral unnest(c.tsv) w
  where c.space = p_space and c.id = any (stale);
  perform drop_embeddings(p_space, stale);
  return query
    select c.id, u.was, c.length - u.was_length, c.current
    from unnest(stale, was_tsv, was_length) u (id, was, was_length)
    join chunk c on c.space = p_space and c.id = u.id;
end $$;

-- A fused search in which words weigh half or more, or in which ranks are fused, finds the chunks that a search by words alone
-- finds, with their ranks: it took candidates of the rarest words only, and lost the best where all words are common.
-- As before, but for that and the above.
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
        p_space, query_lexemes(p_space, stats.language, p_text, false), terms.lexemes, terms.weights, stats.n);
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
