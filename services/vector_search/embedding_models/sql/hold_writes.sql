-- Puts the space's writes on hold for some seconds, after running ones have ended.
select hold_writes($1, $2)
