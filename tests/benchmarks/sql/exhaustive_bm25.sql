-- The best chunks of a space for a text by BM25 (k1 1.5, b 0.75), every posting of every word compared.
with s as (
  select n, greatest(total, 1)::float8 / greatest(n, 1) as average, language from space_stats where space = $1
), q as (
  select t.lexeme, ln(1 + (s.n - t.df + .5) / (t.df + .5)) as weight
  from s cross join lateral unnest(to_tsvector(s.language, $2)) u
  join term t on t.space = $1 and t.lexeme = u.lexeme
)
select p.chunk_id as id, sum(q.weight * p.tf * 2.5 / (p.tf + 1.5 * (.25 + .75 * p.length / s.average)))::float8 as score
from s cross join q
join posting p on p.space = $1 and p.lexeme = q.lexeme
where p.current
group by p.chunk_id
order by score desc, p.chunk_id
limit $3
