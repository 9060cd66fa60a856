-- Memories that the graph does not have yet, oldest first: a relation leads to an older memory.
select * from memory where space = $1 and user_id = $2 and ready and waiting_relations is not null
order by create_time, id limit 100
