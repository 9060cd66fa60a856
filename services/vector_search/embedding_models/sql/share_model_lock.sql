-- Prevents changes of the space's models until the transaction ends; shared by all writers.
select pg_advisory_xact_lock_shared(space_lock($1))
