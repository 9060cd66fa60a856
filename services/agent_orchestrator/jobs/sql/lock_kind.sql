-- Until the transaction ends, no other call starts a job of this kind in the space.
select pg_advisory_xact_lock(hashtextextended('braid.job.' || $1 || '.' || $2, 0))
