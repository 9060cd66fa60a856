-- Those of the given memories whose graph part a job has yet to store.
select id from memory where space = $1 and user_id = $2 and id = any($3::uuid[]) and waiting_relations is not null
