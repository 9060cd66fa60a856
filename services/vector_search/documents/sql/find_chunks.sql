-- Which of the given chunks are stored.
select c.id from chunk c where c.space = $1 and c.id = any ($2::uuid[]) order by c.id
