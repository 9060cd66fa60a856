-- Deletes conversation $1 of user $3 in space $2, with its messages and runs.
delete from conversation where id = $1 and space = $2 and user_name = $3 returning id
