-- The space's revision, and whether no version with a future valid time has come into force since.
select revision, next_change > now() as settled from space_stats where space = $1
