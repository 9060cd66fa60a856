-- Counts one more attempt that failed on documents alone.
update document set attempts = attempts + 1 where number = any($1::bigint[])
