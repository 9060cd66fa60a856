-- Adds a conversation of user $3 in space $2.
insert into conversation (id, space, user_name, title) values ($1, $2, $3, $4)
returning id, title, create_time, update_time, message_count
