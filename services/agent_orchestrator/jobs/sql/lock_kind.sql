-- Prevents other calls from starting a job of this kind in the space until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('braid.job.' || $1 || '.' || $2, 0))
