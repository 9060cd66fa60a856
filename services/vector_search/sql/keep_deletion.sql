-- Keeps what a deletion removed, and drops what the space's deletions of long ago did.
with expired as (delete from deletion where space = $1 and deleted_at < now() - interval '30 days')
insert into deletion (space, deletion_id, versions, chunks) values ($1, $2, $3, $4)
