-- The space's revision, null for one that was never written: asked of the primary and of a replica to compare both.
select revision from space_stats where space = $1
