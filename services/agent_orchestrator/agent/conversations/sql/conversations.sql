-- name: acquire_conversation
-- Leases conversation $1 of user $3 in space $2 to run $4 for $5 seconds, unless another run holds an unexpired lease.
update conversation
set active_run_id = $4, lease_expire_time = now() + make_interval(secs => $5)
where id = $1 and space = $2 and user_name = $3
  and (active_run_id is null or active_run_id = $4 or lease_expire_time < now())
returning id

-- name: add_conversation
-- Adds a conversation of user $3 in space $2.
insert into conversation (id, space, user_name, title) values ($1, $2, $3, $4)
returning id, title, create_time, update_time, message_count

-- name: add_turn
-- Adds a question and its answer to conversation $1, if run $2 holds its lease, and ends the lease.
with owned as (
  update conversation
  set message_count = message_count + 2, update_time = now(), active_run_id = null, lease_expire_time = null,
      title = case when title = '' then $7 else title end
  where id = $1 and active_run_id = $2
  returning message_count
)
insert into conversation_message (conversation_id, number, role, text, citations, run_id, model, ending, words)
select $1, message_count - 1, 'user', $3, '[]'::jsonb, null, '', '', to_tsvector('english', left($3, 100000)) from owned
union all
select $1, message_count, 'assistant', $4, $5::jsonb, $2, $6, $8, to_tsvector('english', left($4, 100000)) from owned
returning number

-- name: delete_conversation
-- Deletes conversation $1 of user $3 in space $2, with its messages and runs.
delete from conversation where id = $1 and space = $2 and user_name = $3 returning id

-- name: forget_messages
-- Marks the messages of user $2 in space $1 that have all words of $3, or all messages if it is null; returns how many the user wrote,
-- without those that ask to forget.
with gone as (
  update conversation_message m set forgotten = true
  from conversation c
  where c.id = m.conversation_id and c.space = $1 and c.user_name = $2 and not m.forgotten
    and ($3::text is null or (numnode(plainto_tsquery('english', $3)) > 0
      and coalesce(m.words, to_tsvector('english', left(m.text, 100000))) @@ plainto_tsquery('english', $3)))
  returning m.role, m.text
)
select count(*) filter (where role = 'user' and text !~* '^\W*(please[ ,]+)?(forget|delete|erase|remove)\y') from gone

-- name: get_conversation
-- Conversation $1 of user $3 in space $2.
select id, title, create_time, update_time, message_count, summary, summarized_through
from conversation where id = $1 and space = $2 and user_name = $3

-- name: list_conversations
-- Conversations of user $2 in space $1 after position ($3, $4), most recently used first.
select id, title, create_time, update_time, message_count
from conversation
where space = $1 and user_name = $2
  and ($3::timestamptz is null or (update_time, id) < ($3::timestamptz, $4::uuid))
order by update_time desc, id desc
limit $5

-- name: list_messages
-- Messages of conversation $1 of user $3 in space $2 before number $4, latest first.
select m.number, m.role, m.text, m.citations, m.run_id, m.model, m.ending, m.create_time
from conversation c join conversation_message m on m.conversation_id = c.id
where c.id = $1 and c.space = $2 and c.user_name = $3 and m.number < $4
order by m.number desc
limit $5

-- name: release_conversation
-- Ends the lease of run $2 on conversation $1.
update conversation set active_run_id = null, lease_expire_time = null where id = $1 and active_run_id = $2

-- name: rename_conversation
-- Sets the title of conversation $1 of user $3 in space $2 to $4.
update conversation set title = $4, update_time = now()
where id = $1 and space = $2 and user_name = $3
returning id, title, create_time, update_time, message_count

-- name: save_summary
-- Stores the summary of conversation $1 up to message $3, unless a later summary exists already.
update conversation set summary = $2, summarized_through = $3 where id = $1 and summarized_through < $3

-- name: search_messages
-- Messages of user $2 in space $1 with a word of $3, those with most of its words first; of one author unless $4 is null.
-- Of a longer text the first 100,000 characters count: the words of a text have a limit.
with asked as (
  select tsvector_to_array(to_tsvector('english', $3)) as words
)
select c.id, c.title, m.number, m.role, m.text, m.citations, m.run_id, m.model, m.ending, m.create_time
from conversation c
join conversation_message m on m.conversation_id = c.id
cross join lateral (
  select tsvector_to_array(coalesce(m.words, to_tsvector('english', left(m.text, 100000)))) as words
) said
cross join asked
cross join lateral (
  select count(*) as found from unnest(asked.words) as w (word) where w.word = any (said.words)
) matched
where c.space = $1 and c.user_name = $2 and ($4::text is null or m.role = $4) and matched.found > 0 and not m.forgotten
order by matched.found desc, m.create_time desc, m.conversation_id, m.number desc
limit $5
