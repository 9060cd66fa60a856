-- name: create_settings
-- Sets everything for a space for which nothing is set; returns when, or nothing.
insert into space_setting (space, conversation_days, memory_days, upload_bytes_per_day, max_documents, title)
values ($1, $2, $3, $4, $5, $6)
on conflict do nothing returning create_time

-- name: delete_old_conversations
-- Deletes some of a space's conversations without a message for so many days, except those that are being answered; returns how
-- many, and how many messages.
with gone as (
  delete from conversation where id in (
    select c.id from conversation c
    where c.space = $1 and c.update_time < now() - make_interval(days => $2)
      and (c.lease_expire_time is null or c.lease_expire_time < now())
    order by c.update_time limit $3 for update skip locked
  ) returning message_count
)
select count(*) as conversations, coalesce(sum(message_count), 0) as messages from gone

-- name: get_settings
-- What is set for a space.
select conversation_days, memory_days, upload_bytes_per_day, max_documents, title from space_setting where space = $1

-- name: old_memories
-- Some of a space's memories that were not stored, read or found for so many days, with their users.
select user_id, id from memory
where space = $1 and ready and coalesce(last_access_time, create_time) < now() - make_interval(days => $2)
order by user_id, id limit $3

-- name: put_settings
-- Sets everything for a space.
insert into space_setting (space, conversation_days, memory_days, upload_bytes_per_day, max_documents, title)
values ($1, $2, $3, $4, $5, $6)
on conflict (space) do update set conversation_days = excluded.conversation_days, memory_days = excluded.memory_days,
  upload_bytes_per_day = excluded.upload_bytes_per_day, max_documents = excluded.max_documents, title = excluded.title

-- name: spaces_to_tidy
-- Spaces with something that is kept no longer. Like spaces_to_index of the vector tier, not limited to one space.
select s.space from space_setting s
where not exists (select from space_import i where i.space = s.space)
  and (exists (select from conversation c where c.space = s.space
                 and c.update_time < now() - make_interval(days => s.conversation_days)
                 and (c.lease_expire_time is null or c.lease_expire_time < now()))
    or exists (select from memory m where m.space = s.space and m.ready
                 and coalesce(m.last_access_time, m.create_time) < now() - make_interval(days => s.memory_days)))
order by s.space
