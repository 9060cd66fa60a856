-- Ends a turn.
delete from turn where id = $1
