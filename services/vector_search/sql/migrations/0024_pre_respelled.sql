-- Chunks of before with other characters than ASCII's get the words of 0023: they would be found by what accents they have, and as
-- sentences without spaces. Writers wait meanwhile, readers do not. It gives up rather than let all wait that come after it.
set local lock_timeout = '10s';
do $$
begin
  if not exists (select from chunk c where octet_length(c.title || c.content) <> length(c.title || c.content)) then
    return;
  end if;
  lock table document, chunk in exclusive mode;

  create temporary table respelled on commit drop as
  select n.* from (
    select c.space, c.id, c.current, c.tsv as was, chunk_words(s.language, c.title || E'\n' || c.content) as tsv,
           c.length as was_length, 0 as length
    from chunk c join space_stats s using (space)
    where octet_length(c.title || c.content) <> length(c.title || c.content)
    offset 0
  ) n where n.tsv <> n.was;
  update respelled r set length = (select coalesce(sum(cardinality(w.positions)), 0) from unnest(r.tsv) w);
  create index on respelled (space, id);
  analyze respelled;

  delete from posting p using respelled r cross join lateral unnest(r.was) w
  where p.space = r.space and p.lexeme = w.lexeme and p.chunk_id = r.id;
  update chunk c set tsv = r.tsv, length = r.length from respelled r where c.space = r.space and c.id = r.id;
  insert into posting (space, lexeme, chunk_id, tf, length, current)
  select r.space, w.lexeme, r.id, cardinality(w.positions), r.length, r.current
  from respelled r cross join lateral unnest(r.tsv) w;

  insert into term as t (space, lexeme, df, postings)
  select d.space, d.lexeme, d.df, d.postings from (
    select x.space, x.lexeme, coalesce(sum(x.way) filter (where x.current), 0) as df, sum(x.way) as postings from (
      select r.space, u.lexeme, r.current, 1 as way from respelled r cross join lateral unnest(r.tsv) u
      union all
      select r.space, u.lexeme, r.current, -1 from respelled r cross join lateral unnest(r.was) u
    ) x group by x.space, x.lexeme
  ) d
  where d.postings <> 0 or d.df <> 0
  order by d.space, d.lexeme collate "C"
  on conflict (space, lexeme) do update set df = t.df + excluded.df, postings = t.postings + excluded.postings;

  update space_stats s set total = s.total + d.change, revision = s.revision + 1
  from (
    select r.space, coalesce(sum(r.length - r.was_length) filter (where r.current), 0) as change
    from respelled r group by r.space
  ) d
  where s.space = d.space;
end $$;
