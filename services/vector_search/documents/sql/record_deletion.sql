-- Records what a deletion removed, and deletes the space's records older than 30 days, except those locked by
-- concurrent deletions.
with expired as (
  select deletion_id from deletion
  where space = $1 and deleted_at < now() - interval '30 days'
  for update skip locked
), dropped as (
  delete from deletion d using expired e where d.space = $1 and d.deletion_id = e.deletion_id
)
insert into deletion (space, deletion_id, versions, chunks) values ($1, $2, $3, $4)
