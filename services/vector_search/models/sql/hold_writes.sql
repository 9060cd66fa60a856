-- Holds the space's writes back for some seconds, once those that are running have ended.
select hold_writes($1, $2)
