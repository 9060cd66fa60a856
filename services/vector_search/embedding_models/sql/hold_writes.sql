-- Makes writes of the space wait for some seconds, once running ones have ended.
select hold_writes($1, $2)
