-- Keeps the space's models as they are, for this transaction alone to change.
select pg_advisory_xact_lock(space_lock($1))
