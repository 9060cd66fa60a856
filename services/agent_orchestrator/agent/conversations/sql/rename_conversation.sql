-- Sets the title of conversation $1 of user $3 in space $2 to $4.
update conversation set title = $4, update_time = now()
where id = $1 and space = $2 and user_name = $3
returning id, title, create_time, update_time, message_count
