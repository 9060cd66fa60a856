-- Locks the space's row, so that what is read next includes all writes before this one.
select from space_stats where space = $1 for update
