-- The current time, read after locks are taken, so that later writers read later times.
select clock_timestamp()
