-- An entity of the user by id, deleted or not; locked for the rest of the transaction.
select * from memory_entity where space = $1 and user_id = $2 and id = $3 and type <> 'self' for update
