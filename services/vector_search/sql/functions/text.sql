-- BM25 (k1 1.5, b 0.75) over postings, with the statistics of the space's current chunks: words of chunks and queries, candidates,
-- scores.

-- Postings that the rarest words of a search by words may have to produce its first candidates.
create or replace function text_cap() returns bigint language sql immutable as 'select 1000::bigint';

-- A search by words is exact when its words have no more postings than this; every chunk is then compared.
create or replace function text_reach() returns bigint language sql immutable as 'select 15000::bigint';

-- As text_cap(), for fused searches, whose hits are near the top of one of the lists.
create or replace function fused_text_cap() returns bigint language sql immutable as 'select 2000::bigint';

-- How many candidates a search by words scores exactly.
create or replace function text_pool() returns integer language sql immutable as 'select 200';

-- Letters without accents: é as e, ø as o, ß as ss; ё as е, but not й as и, which is another letter. Vowel marks of Arabic and
-- Hebrew are removed; marks of other scripts stay. Not the extension unaccent, which may not be installed.
create or replace function without_accents(p_text text) returns text language sql immutable strict as $$
  select case
    when p_text !~ '[\u00c0-\u024f\u0300-\u03ff\u0400-\u045f\u0591-\u05c7\u0640-\u0670\u1e00-\u1fff]' then p_text
    -- Not words: see normalize_spelling.
    when p_text ~ '[^\x01-\x7f[:space:]\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uac00-\ud7a3]{255}' then p_text
    else normalize(regexp_replace(
      normalize(
        replace(replace(replace(replace(replace(replace(replace(replace(
          translate(p_text, 'øØłŁđĐðÐħĦıŧŦŋŊ', 'oOlLdDdDhHitTnN'),
          'ß', 'ss'), 'ẞ', 'SS'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE'), 'þ', 'th'), 'Þ', 'TH'),
        nfd),
      '([A-Za-z\u0180-\u02af\u0370-\u03ff])[\u0300-\u036f]+'
      '|([аеиоуыэюяіАЕИОУЫЭЮЯІ])[\u0300\u0301]+'
      '|([еЕ])\u0308[\u0300\u0301]*'
      '|([\u05d0-\u05ea\u0620-\u063f\u0641-\u064a])[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]+',
      '\1\2\3\4', 'g'), nfc)
  end
$$;

-- Letters of scripts without spaces between words, or that join endings to them: a range of a regular expression.
create or replace function unspaced_letters() returns text language sql immutable as $$
  select '\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17dd\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3105-\u318e'
         '\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff'
$$;

-- One such letter with the marks that belong to it.
create or replace function unspaced_letter() returns text language sql immutable as $$
  select '[' || unspaced_letters() || '][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059'
         '\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u3099\u309a]*'
$$;

-- A text in which each run of letters of scripts without spaces is replaced by pairs of neighbours, and by its last letter if
-- p_last: 日本の船 by 日本 本の の船 (船). A single letter stays.
create or replace function letter_pairs(p_text text, p_last boolean) returns text language sql immutable strict as $$
  select case when p_text !~ ('[' || unspaced_letters() || ']') then p_text
  else (
    select string_agg(
      case when u.letter is null then u.other
           when u.next is not null then ' ' || u.letter || u.next
           when p_last or u.previous is null then ' ' || u.letter || ' '
           else ' ' end, '' order by u.place)
    from (
      select m.parts[1] as letter, m.parts[2] as other, m.place,
             lead(m.parts[1]) over by_place as next, lag(m.parts[1]) over by_place as previous
      from regexp_matches(p_text, '(' || unspaced_letter() || ')|([^' || unspaced_letters() || ']+)', 'g') with ordinality m (parts, place)
      window by_place as (order by m.place)
    ) u
  ) end
$$;

-- A text in one spelling: compatibility forms, apostrophes, dashes and invisible characters are unified (NFKC), symbols stand
-- alone. Chinese, Japanese and Korean text, which has no marks, is not limited in length.
create or replace function normalize_spelling(p_text text) returns text language sql immutable strict as $$
  select case
    -- Not words: normalizing long runs of combining marks takes quadratic time.
    when t.parted ~ '[^\x01-\x7f[:space:]\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff\uac00-\ud7a3]{255}' then t.parted
    else normalize(t.parted, nfkc) end
  from (
    select regexp_replace(
      translate(p_text, E'\u00b4\u02bc\u2018\u2019\u2010\u2011\u00ad\u200e\u200f\u2060\ufe0f\ufeff', '''''''''--'),
      '([\u2600-\u27bf\U0001f000-\U0001faff](?:\u200d[\u2600-\u27bf\U0001f000-\U0001faff])*)'
      '|(?![\x01-\x7f])[[:punct:][:space:]\u3001-\u3003\u3008-\u3030\u30fb\uff01-\uff0f\uff1a-\uff20\uff5b-\uff65'
      '\u200b\u202a-\u202e\u2066-\u2069]',
      ' \1 ', 'g') as parted
    offset 0
  ) t
$$;

-- A text split into words, with their accents.
create or replace function split_words_as_written(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    case when octet_length(p_text) = length(p_text) then p_text else normalize_spelling(p_text) end,
    -- Neither space nor punctuation: letters of any script, also in a database that knows only those of ASCII. The character before
    -- is captured because a look-behind takes ten times as long.
    '([^[:space:][:punct:]])(?:[/@](?=[^[:space:][:punct:]])|-(?=[[:digit:]]))'
    '|([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]]{2})',
    '\1\2 ', 'g')
$$;

-- A text split into words, without accents, and into pairs of letters in scripts without spaces. A word keeps its accents where
-- it would be a stop word without them (thé is not the), or where the parser would classify it differently.
create or replace function split_words(p_text text) returns text language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then split_words_as_written(p_text) else (
    select letter_pairs(string_agg(
      case when w.written <> w.plain and (
             numnode(plainto_tsquery('english', w.plain)) = 0
             or to_tsvector('simple', w.plain) <> without_accents(to_tsvector('simple', w.written)::text)::tsvector)
           then w.written else w.plain end,
      ' ' order by w.place), true)
    from (
      select u.word as written, without_accents(u.word) as plain, u.place
      from regexp_split_to_table(split_words_as_written(p_text), '[[:space:]]+') with ordinality u (word, place)
    ) w
  ) end
$$;

-- A text whose last word may be incomplete: after a full stop one letter of it is enough, as in `node.j`.
create or replace function split_prefix(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    p_text,
    '([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]][[:space:]]*$)',
    '\1 ')
$$;

-- The words of a text with their positions.
create or replace function text_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select to_tsvector(p_language, split_words(p_text))
$$;

-- The words of a text that is not all ASCII, with their positions: with accents as written and as queries have them, with and
-- without; in scripts without spaces, a letter is at the position of its pair with the next one.
create or replace function words_in_all_spellings(p_language regconfig, p_text text) returns tsvector language plpgsql immutable as $$
declare
  written text := split_words_as_written(p_text);
  plain text := without_accents(written);
  words tsvector := to_tsvector(p_language, letter_pairs(plain, true));
begin
  if plain ~ ('[' || unspaced_letters() || ']') then
    words := words::text || ' ' || to_tsvector('simple', regexp_replace(plain, '(' || unspaced_letter() || ')', ' \1 ', 'g'))::text;
  end if;
  if plain <> written then
    written := to_tsvector(p_language, letter_pairs(written, true))::text;
    words := words::text || ' ' || written || ' ' || without_accents(written);
  end if;
  return words;
end $$;

-- The words of a chunk, with their places.
create or replace function chunk_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then text_words(p_language, p_text)
              else words_in_all_spellings(p_language, p_text) end
$$;

-- The words of a query with their positions: stemmed with their accents, which languages' rules need, and then without.
create or replace function query_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then text_words(p_language, p_text)
              else without_accents(to_tsvector(p_language, letter_pairs(split_words_as_written(p_text), false))::text)::tsvector end
$$;

-- Other spellings of a query's numbers, versions and words, as chunks may have them: of 1700 the last groups of 1,700 and the
-- reverse, of 2.13.4 v2.13.4 and the reverse, of ~word word. Only for queries, so that chunks need not be indexed again.
create or replace function other_spellings(p_text text) returns text language sql immutable strict as $$
  select coalesce(string_agg(s.spelling, ' '), '') from (
    select regexp_replace(substr(m.parts[1], (length(m.parts[1]) - 1) % 3 + 2), '(\d{3})', '\1 ', 'g') as spelling
    from regexp_matches(p_text, '(?<![\w.,])(\d{4,15})(?!\w|[.,]\d)', 'g') m (parts)
    union all
    select regexp_replace(m.parts[1], '[^0-9]', '', 'g')
    from regexp_matches(p_text, '(?<![\w.,])(\d{1,3}(?:[,''\u2019]\d{3})+)(?!\w|[.,]\d)', 'g') m (parts)
    union all
    select case m.parts[1] when '' then 'v' || m.parts[2] else m.parts[2] end
    from regexp_matches(lower(p_text), '(?<![\w.])(v?)(\d+(?:\.\d+)+)(?!\w|\.\d)', 'g') m (parts)
    union all
    select m.parts[1] from regexp_matches(p_text, '~(\w+)', 'g') m (parts)
  ) s
$$;

-- The lexemes of a query, as chunk_words has them and as PostgreSQL's own parser would. With p_prefix also those of the space,
-- the 50 most frequent, that begin like its last word or its stem.
create or replace function query_lexemes(p_space text, p_language regconfig, p_text text, p_prefix boolean) returns text[]
language plpgsql stable as $$
declare
  words tsvector := query_words(p_language, case when p_prefix then split_prefix(p_text) else p_text end);
  others tsvector := to_tsvector(p_language, other_spellings(p_text));
  lexemes text[] := tsvector_to_array(words || others || to_tsvector(p_language, p_text));
begin
  if octet_length(p_text) <> length(p_text) then
    -- PostgreSQL's words as written, except those that differ by accents alone.
    lexemes := tsvector_to_array(words || others || array_to_tsvector(array(
      select u.lexeme from unnest(to_tsvector(p_language, p_text)) u
      where without_accents(u.lexeme) <> all (tsvector_to_array(words)))));
  end if;
  if not p_prefix then
    return lexemes;
  end if;
  return array(
    with last_word as (
      select u.lexeme, u.positions[cardinality(u.positions)] as place
      from unnest(query_words('simple', split_prefix(p_text))) u order by place desc limit 1
    ), beginnings as (
      select w.lexeme from last_word w
      union
      select u.lexeme from unnest(words) u join last_word w on w.place = any (u.positions)
      union
      (select u.lexeme from unnest(query_words('simple', p_text)) u
       where split_prefix(p_text) <> p_text order by u.positions[cardinality(u.positions)] desc limit 1)
    ), completed as (
      select distinct t.lexeme, t.postings from beginnings b
      join term t on t.space = p_space and t.lexeme >= b.lexeme and t.lexeme < b.lexeme || chr(1114111)
      where t.postings > 0
      order by t.postings desc, t.lexeme limit 50
    )
    select unnest(lexemes) union select c.lexeme from completed c);
end $$;

-- Those of the given lexemes that the space knows, rarest first, with their weights. `head` is how many of them may produce
-- candidates: those whose postings together stay within p_cap, at least one. `rests` bounds what the lexemes after each add.
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
           -- Those after it, summed up from the last one: a frame that loses its first row is summed again for each row.
           dearer as (order by w.postings desc, w.lexeme desc rows between unbounded preceding and 1 preceding)
  ) t
$$;

-- Weights of a query whose last word is completed: all completions together weigh what one word of their joint frequency does.
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

-- The BM25 score that counts 1 in a fused score: two thirds of what a chunk of average length has that contains each of the
-- query's words once, unknown words included. Measured: the order of hits is as good as where the best hit counts 1. A completed
-- last word counts once: as itself or as its rarest completion, whichever weighs more.
create or replace function full_text_score(
  p_space text, p_language regconfig, p_text text, p_n bigint, p_prefix boolean, p_lexemes text[], p_weights float8[]
) returns float8 language sql stable as $$
  with last_word as (
    select max(u.positions[cardinality(u.positions)]) as place from unnest(query_words('simple', split_prefix(p_text))) u
  ), words as materialized (
    select w.lexeme, ln(1 + (greatest(p_n, d.df) - d.df + .5) / (d.df + .5))::float8 as weight, d.df,
           p_prefix and l.place = any (w.positions) as is_last
    from unnest(query_words(p_language, case when p_prefix then split_prefix(p_text) else p_text end)) w
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

-- BM25 of given chunks for given terms; chunks without any of them are left out.
create or replace function text_scores(
  p_space text, p_lexemes text[], p_weights float8[], p_average float8, p_ids uuid[]
) returns table (id uuid, score float8) language sql stable as $$
  select p.chunk_id,
         sum(q.weight * p.tf * 2.5::float8 / (p.tf + 0.375::float8 + p.length * (1.125::float8 / p_average)))
  from unnest(p_lexemes, p_weights) as q (lexeme, weight)
  cross join lateral (
    select o.chunk_id, o.tf, o.length
    from posting o
    where o.space = p_space and o.lexeme = q.lexeme and o.chunk_id = any (p_ids)
    offset 0
  ) p
  group by p.chunk_id
$$;

-- The best p_limit chunks by the rarest terms, with their scores by these terms, none below p_floor: candidates for exact scoring.
-- p_plain: only current chunks, without filters; otherwise chunks are tested, best first, until enough pass.
create or replace function text_candidates(
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

-- Chunks with their scores by all terms, best first. p_scores are those by the first p_used terms.
create or replace function complete_scores(
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

-- All chunks that hold a phrase, of p_eligible where given: those of its rarest lexeme that have the others too, and
-- have them in order. Filters as in text_candidates.
create or replace function phrase_chunks(
  p_space text, p_lexemes text[], p_phrase tsquery, p_eligible uuid[],
  p_plain boolean, p_at timestamptz, p_documents text[], p_metadata jsonb
) returns uuid[] language sql stable as $$
  with all_words as materialized (
    select p.chunk_id from posting p
    where p.space = p_space and p.lexeme = p_lexemes[1]
      and (p.current or not p_plain) and (p_eligible is null or p.chunk_id = any (p_eligible))
      and not exists (
        select from unnest(p_lexemes[2:]) other (lexeme)
        where not exists (
          select from posting o
          where o.space = p_space and o.lexeme = other.lexeme and o.chunk_id = p.chunk_id))
  ), in_order as materialized (
    select w.chunk_id from all_words w join chunk c on c.space = p_space and c.id = w.chunk_id where c.tsv @@ p_phrase
  )
  select coalesce(array_agg(o.chunk_id), '{}') from in_order o
  where p_plain or p_eligible is not null
     or chunk_passes(p_space, o.chunk_id, p_at, p_documents, p_metadata)
$$;

-- From the query's terms to scored chunks, best first. p_phrase, where given, is what chunks must contain.
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
    -- The rare words may be in fewer chunks than the limit: then more frequent ones produce candidates too, one more or
    -- as many as have half as many postings as all before.
    exit when used = terms or cardinality(candidates.ids) >= p_limit;
    enough := p_costs[used] * 1.5;
    used := used + 1;
    while used < terms and p_costs[used + 1] <= enough loop
      used := used + 1;
    end loop;
  end loop;
  if used < terms and p_reach > 0 then
    -- What the last hit has at least; the factor allows for the order of additions.
    select * into found_best from complete_scores(
      p_space, p_lexemes, p_weights, used, p_average, candidates.ids[1:3 * p_limit], candidates.scores[1:3 * p_limit], p_limit);
    bar := found_best.scores[p_limit] * 0.999999;
    -- A chunk with none of the words that produced candidates has at most p_rests[used]. Chunks that this cannot lift over
    -- the bar are not completed.
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
    select * into found_best from complete_scores(
      p_space, p_lexemes, p_weights, used, p_average, candidates.ids, candidates.scores, p_limit);
    return query select * from unnest(found_best.ids, found_best.scores);
  end if;
end $$;
