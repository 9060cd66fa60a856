-- Locks the space's row, so that the next read includes all writes before this one.
select from space_stats where space = $1 for update
