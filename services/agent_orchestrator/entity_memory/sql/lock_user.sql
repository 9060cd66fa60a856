-- Lets one writer of a user's memory work at a time: limits are exact, and names are resolved once.
select pg_advisory_xact_lock(hashtextextended('entity memory ' || $1 || ' ' || $2, 0))
