-- What a deletion removed.
select versions, chunks from deletion where space = $1 and deletion_id = $2
