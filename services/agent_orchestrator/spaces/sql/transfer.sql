-- name: count_import_page
-- Records that a page of an import is stored.
update space_import set stored_pages = $3 where space = $1 and import_id = $2 and stored_pages < $3

-- name: end_import
-- Ends an import.
delete from space_import where space = $1 and import_id = $2

-- name: export_messages
-- A page of the messages of a space's conversations, each as JSON, with its key.
select (to_jsonb(m) - array['run_id', 'words'])::text as exported, jsonb_build_array(m.conversation_id, m.number)::text as key
from conversation c join conversation_message m on m.conversation_id = c.id
where c.space = $1 and ($2::uuid is null or (m.conversation_id, m.number) > ($2, $3))
order by m.conversation_id, m.number limit $4

-- name: find_import
-- The unfinished import of a space.
select import_id, archive_id, stored_pages from space_import where space = $1

-- name: foreign_conversations
-- Those of the given conversations that the space does not have.
select given.id from unnest($2::uuid[]) as given (id)
where not exists (select from conversation c where c.space = $1 and c.id = given.id)

-- name: import_messages
-- Stores exported messages, except those that exist.
insert into conversation_message (conversation_id, number, role, text, citations, model, ending, create_time, forgotten)
select m.conversation_id, m.number, m.role, m.text, m.citations, m.model, m.ending, m.create_time, coalesce(m.forgotten, false)
from unnest($1::text[]) r cross join lateral jsonb_populate_record(null::conversation_message, r::jsonb) m
on conflict do nothing

-- name: start_import
-- Begins an import unless the space has an unfinished one.
insert into space_import (space, import_id, archive_id) values ($1, $2, $3) on conflict do nothing

-- name: transfer_state
-- What changes with every change of what an export contains of the orchestrator's own, and how much of it is being written. Needs
-- the scope of the space.
select
  md5(concat_ws(' ',
    (select concat_ws(',', count(*), sum(message_count), max(update_time)) from conversation where space = $1),
    (select concat_ws(',', count(*), max(create_time), max(update_time)) from memory where space = $1),
    (select concat_ws(',', count(*), max(replace_time)) from past_memory where space = $1),
    (select count(*) from conversation_message m join conversation c on c.id = m.conversation_id where c.space = $1 and m.forgotten),
    (select concat_ws(',', count(*), max(last_mention_time), max(delete_time)) from memory_entity where space = $1),
    (select concat_ws(',', count(*), max(last_mention_time), max(delete_time)) from memory_relationship where space = $1),
    (select concat_ws(',', count(*), sum(extract(epoch from expire_time))) from document_expiry where space = $1)
  )) as state,
  (select count(*) from job where space = $1 and state in ('queued', 'running'))
    + (select count(*) from document where space = $1)
    + (select count(*) from memory_write where space = $1 and end_time is null) as unfinished
