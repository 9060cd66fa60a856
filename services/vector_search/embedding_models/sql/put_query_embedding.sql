-- Stores a query's vector; keeps the space's $4 most recently used ones.
with kept as (
  insert into query_embedding (space, digest, vector) values ($1, $2, $3)
  on conflict (space, digest) do update set vector = excluded.vector, used_at = now()
), surplus as (
  select digest from query_embedding where space = $1 and digest <> $2
  order by used_at desc, digest offset $4 for update skip locked
)
delete from query_embedding q using surplus s where q.space = $1 and q.digest = s.digest
