-- Conversations of user $2 in space $1 after position ($3, $4), most recently used first.
select id, title, create_time, update_time, message_count
from conversation
where space = $1 and user_name = $2
  and ($3::timestamptz is null or (update_time, id) < ($3::timestamptz, $4::uuid))
order by update_time desc, id desc
limit $5
