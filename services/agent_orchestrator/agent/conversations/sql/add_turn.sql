-- Adds a question and its answer to conversation $1, if run $2 holds its lease, and ends the lease.
with owned as (
  update conversation
  set message_count = message_count + 2, update_time = now(), active_run_id = null, lease_expire_time = null,
      title = case when title = '' then $7 else title end
  where id = $1 and active_run_id = $2
  returning message_count
)
insert into conversation_message (conversation_id, number, role, text, citations, run_id, model, ending)
select $1, message_count - 1, 'user', $3, '[]'::jsonb, null, '', '' from owned
union all
select $1, message_count, 'assistant', $4, $5::jsonb, $2, $6, $8 from owned
returning number
