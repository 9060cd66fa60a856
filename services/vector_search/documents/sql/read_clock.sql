-- The time now: read after locks are held, so that later writers read later times.
select clock_timestamp()
