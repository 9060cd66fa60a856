-- Words regardless of accents, and words of scripts that put no spaces between them.

-- Letters without accents: é as e, ø as o, ß as ss; ё as е, but not й as и, which is another letter. Vowel marks of Arabic and
-- Hebrew are left out; marks of other scripts are kept. A function of our own: the extension unaccent may not be there.
create function without_accents(p_text text) returns text language sql immutable strict as $$
  select case
    when p_text !~ '[\u00c0-\u024f\u0300-\u03ff\u0400-\u045f\u0591-\u05c7\u0640-\u0670\u1e00-\u1fff]' then p_text
    -- No words, as in in_one_spelling.
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

-- Letters of scripts that put no spaces between words, or join endings to them: a range of a regular expression.
create function unspaced() returns text language sql immutable as $$
  select '\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17dd\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3105-\u318e'
         '\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff'
$$;

-- One such letter with the marks that belong to it.
create function unspaced_letter() returns text language sql immutable as $$
  select '[' || unspaced() || '][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059'
         '\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u3099\u309a]*'
$$;

-- A text in which each run of such letters is replaced by its pairs of neighbours, and its last letter where asked for:
-- 日本の船 by 日本 本の の船 (船). A letter alone stays as it is.
create function in_pairs(p_text text, p_last boolean) returns text language sql immutable strict as $$
  select case when p_text !~ ('[' || unspaced() || ']') then p_text
  else (
    select string_agg(
      case when u.letter is null then u.other
           when u.next is not null then ' ' || u.letter || u.next
           when p_last or u.previous is null then ' ' || u.letter || ' '
           else ' ' end, '' order by u.place)
    from (
      select m.parts[1] as letter, m.parts[2] as other, m.place,
             lead(m.parts[1]) over by_place as next, lag(m.parts[1]) over by_place as previous
      from regexp_matches(p_text, '(' || unspaced_letter() || ')|([^' || unspaced() || ']+)', 'g') with ordinality m (parts, place)
      window by_place as (order by m.place)
    ) u
  ) end
$$;

-- As before, but for the marks that count: letters of Chinese, Japanese and Korean have none, and whole sentences no space.
create or replace function in_one_spelling(p_text text) returns text language sql immutable strict as $$
  select case
    -- No words: marks piled up without end take the square of their number.
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

-- A text parted into words, its accents kept: what `parted` was.
create function parted_as_written(p_text text) returns text language sql immutable as $$
  select regexp_replace(
    case when octet_length(p_text) = length(p_text) then p_text else in_one_spelling(p_text) end,
    -- Neither space nor punctuation: letters of any script, where a database knows those of ASCII alone. What stands before is
    -- taken along: looking back from each character takes ten times as long.
    '([^[:space:][:punct:]])(?:[/@](?=[^[:space:][:punct:]])|-(?=[[:digit:]]))'
    '|([^[:space:][:punct:][:digit:]]{2})\.(?=[^[:space:][:punct:][:digit:]]{2})',
    '\1\2 ', 'g')
$$;

-- As before, without accents, and in pairs where there are no spaces: what phrases are looked for with. A word keeps its accents
-- where it would be a common one without them (thé is not the), or the parser would take it for something else.
create or replace function parted(p_text text) returns text language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then parted_as_written(p_text) else (
    select in_pairs(string_agg(
      case when w.written <> w.plain and (
             numnode(plainto_tsquery('english', w.plain)) = 0
             or to_tsvector('simple', w.plain) <> without_accents(to_tsvector('simple', w.written)::text)::tsvector)
           then w.written else w.plain end,
      ' ' order by w.place), true)
    from (
      select u.word as written, without_accents(u.word) as plain, u.place
      from regexp_split_to_table(parted_as_written(p_text), '[[:space:]]+') with ordinality u (word, place)
    ) w
  ) end
$$;

-- The words of a text that is not all ASCII, with their places: one with accents is there as it is, and as queries with and without
-- them have it; where there are no spaces, a letter is where its pair with the next one is.
create function words_in_all_spellings(p_language regconfig, p_text text) returns tsvector language plpgsql immutable as $$
declare
  written text := parted_as_written(p_text);
  plain text := without_accents(written);
  words tsvector := to_tsvector(p_language, in_pairs(plain, true));
begin
  if plain ~ ('[' || unspaced() || ']') then
    words := words::text || ' ' || to_tsvector('simple', regexp_replace(plain, '(' || unspaced_letter() || ')', ' \1 ', 'g'))::text;
  end if;
  if plain <> written then
    written := to_tsvector(p_language, in_pairs(written, true))::text;
    words := words::text || ' ' || written || ' ' || without_accents(written);
  end if;
  return words;
end $$;

-- The words of a chunk, with their places.
create function chunk_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then text_words(p_language, p_text)
              else words_in_all_spellings(p_language, p_text) end
$$;

-- The words of a query, with their places: stemmed with their accents, as languages' rules go by them, and then without.
create function query_words(p_language regconfig, p_text text) returns tsvector language sql immutable as $$
  select case when octet_length(p_text) = length(p_text) then text_words(p_language, p_text)
              else without_accents(to_tsvector(p_language, in_pairs(parted_as_written(p_text), false))::text)::tsvector end
$$;

-- As before, with the words above. Chunks of before have joined words: a query looks for both, and completes both.
create or replace function query_lexemes(p_space text, p_language regconfig, p_text text, p_prefix boolean) returns text[]
language plpgsql stable as $$
declare
  words tsvector := query_words(p_language, case when p_prefix then begun(p_text) else p_text end);
  lexemes text[] := tsvector_to_array(words || to_tsvector(p_language, p_text));
begin
  if octet_length(p_text) <> length(p_text) then
    -- Those of before as they are written, but for what accents alone make another word.
    lexemes := tsvector_to_array(words || array_to_tsvector(array(
      select u.lexeme from unnest(to_tsvector(p_language, p_text)) u
      where without_accents(u.lexeme) <> all (tsvector_to_array(words)))));
  end if;
  if not p_prefix then
    return lexemes;
  end if;
  return array(
    with last_word as (
      select u.lexeme, u.positions[cardinality(u.positions)] as place
      from unnest(query_words('simple', begun(p_text))) u order by place desc limit 1
    ), beginnings as (
      select w.lexeme from last_word w
      union
      select u.lexeme from unnest(words) u join last_word w on w.place = any (u.positions)
      union
      (select u.lexeme from unnest(query_words('simple', p_text)) u
       where begun(p_text) <> p_text order by u.positions[cardinality(u.positions)] desc limit 1)
    ), completed as (
      select distinct t.lexeme, t.postings from beginnings b
      join term t on t.space = p_space and t.lexeme >= b.lexeme and t.lexeme < b.lexeme || chr(1114111)
      where t.postings > 0
      order by t.postings desc, t.lexeme limit 50
    )
    select unnest(lexemes) union select c.lexeme from completed c);
end $$;

-- As before, with the words of chunks as above.
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
    select u.id, u.title, chunk_words(s.language, u.title || E'\n' || k.content) as tsv
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
