-- Takes the lock of the space's models, so that this transaction alone may change them.
select pg_advisory_xact_lock(space_lock($1))
