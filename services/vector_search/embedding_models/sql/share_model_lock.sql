-- Keeps the space's models as they are until the transaction ends; shared by all writers.
select pg_advisory_xact_lock_shared(space_lock($1))
