-- Which of the given chunks are stored.
select id from chunk where space = $1 and id = any ($2)
