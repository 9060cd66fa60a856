-- Takes the exclusive lock on the space's models, so that only this transaction may change them.
select pg_advisory_xact_lock(space_lock($1))
