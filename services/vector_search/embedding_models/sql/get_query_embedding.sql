-- A query's vector by its digest; its use is recorded at most once an hour.
with used as (
  update query_embedding set used_at = now()
  where space = $1 and digest = $2 and used_at < now() - interval '1 hour'
)
select vector from query_embedding where space = $1 and digest = $2
