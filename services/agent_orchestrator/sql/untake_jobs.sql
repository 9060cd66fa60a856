-- Gives back jobs that were taken up and left for no fault of theirs.
update job set takes = 0 where id = any($1::uuid[])
