-- The user's messages in a conversation before a message, latest first.
select m.text from conversation_message m
join conversation c on c.id = m.conversation_id
where c.space = $1 and c.user_name = $2 and c.id = $3 and m.role = 'user' and m.run_id is distinct from $4
  and m.number < coalesce((select min(number) from conversation_message where conversation_id = $3 and run_id = $4), 2147483647)
order by m.number desc limit $5
