-- Holds the space's model as it is until the transaction ends.
select pg_advisory_xact_lock_shared(space_lock($1))
