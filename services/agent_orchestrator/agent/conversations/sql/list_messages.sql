-- Messages of conversation $1 of user $3 in space $2 before number $4, latest first.
select m.number, m.role, m.text, m.citations, m.run_id, m.model, m.ending, m.create_time
from conversation c join conversation_message m on m.conversation_id = c.id
where c.id = $1 and c.space = $2 and c.user_name = $3 and m.number < $4
order by m.number desc
limit $5
