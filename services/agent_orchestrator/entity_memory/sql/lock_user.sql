-- Serializes writers of a user's memory, so that limits are exact and names are resolved once.
select pg_advisory_xact_lock(hashtextextended('entity memory ' || $1 || ' ' || $2, 0))
