-- A page of a user's visible memories by id.
select id, document_id from memory
where space = $1 and user_id = $2 and ready and id > $3
order by id limit $4
