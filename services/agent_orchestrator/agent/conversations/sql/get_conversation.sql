-- Conversation $1 of user $3 in space $2.
select id, title, create_time, update_time, message_count, summary, summarized_through
from conversation where id = $1 and space = $2 and user_name = $3
