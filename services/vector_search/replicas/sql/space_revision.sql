-- The space's revision, null for a space that was never written; read from the primary and a replica to compare both.
select revision from space_stats where space = $1
