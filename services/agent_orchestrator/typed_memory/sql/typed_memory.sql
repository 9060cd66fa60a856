-- name: acquire_session
-- Leases the session to holder $4 for $5 seconds, unless another holder has an unexpired lease.
insert into memory_session_lease as held (space, user_id, session_id, holder, expire_time)
values ($1, $2, $3, $4, now() + make_interval(secs => $5))
on conflict (space, user_id, session_id) do update
set holder = excluded.holder, expire_time = excluded.expire_time
where held.expire_time < now()
returning true

-- name: add_memory
-- Adds a memory that is not in the tiers yet, or renews what an interrupted attempt has left; null if its session is closed.
insert into memory (space, user_id, id, document_id, type, title, content, tags, importance, metadata, session_id)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11
where not exists (select from closed_session where space = $1 and user_id = $2 and session_id = $11)
on conflict (space, user_id, id) do update set create_time = now() where not memory.ready
returning *

-- name: change_memory
-- Changes what a memory is called and how it is found, not its text.
update memory set title = $4, tags = $5, importance = $6, metadata = $7::jsonb, session_id = $8, update_time = now()
where space = $1 and user_id = $2 and id = $3 and ready
returning *

-- name: close_session
-- Closes a session; if another call closed it before, that call's summary is kept.
insert into closed_session (space, user_id, session_id, summary_id) values ($1, $2, $3, $4)
on conflict do nothing

-- name: co_accessed
-- Pairs of memories by their weight, which decays with time, highest first.
select first_id, second_id, weight * 0.5 ^ (extract(epoch from now() - update_time) / $3::float8) as weight
from memory_co_access where space = $1 and user_id = $2
order by 3 desc, 1, 2 limit $4

-- name: count_memories
-- The number of a user's memories.
select count(*) from memory where space = $1 and user_id = $2 and ready

-- name: delete_memory
-- Deletes a memory that was deleted from both tiers.
delete from memory where space = $1 and user_id = $2 and id = $3

-- name: existing_memories
-- The given memories that exist, visible or not.
select id from memory where space = $1 and user_id = $2 and id = any($3::uuid[])

-- name: keep_past
-- Keeps what a memory ($3) said, and its own past, as the past of the memory that takes its place ($4); once, also if an
-- interrupted change is repeated.
with moved as (
  insert into past_memory (space, user_id, memory_id, replace_time, type, title, content, create_time)
  select space, user_id, $4, replace_time, type, title, content, create_time from past_memory
  where space = $1 and user_id = $2 and memory_id = $3
  on conflict do nothing
)
insert into past_memory (space, user_id, memory_id, type, title, content, create_time)
select space, user_id, $4, type, title, content, create_time from memory as said
where space = $1 and user_id = $2 and id = $3 and not exists (
  select from past_memory as kept
  where kept.space = $1 and kept.user_id = $2 and kept.memory_id = $4
    and (kept.type, kept.content, kept.create_time) = (said.type, said.content, said.create_time)
)

-- name: last_of_session
-- The last memory of a session that is still open.
select id from memory where space = $1 and user_id = $2 and session_id = $3 and session_id <> '' and ready
order by create_time desc, id desc limit 1

-- name: list_memories
-- A page of memories, newest first.
select * from memory
where space = $1 and user_id = $2 and ready
  and (cardinality($3::text[]) = 0 or type = any($3))
  and ($4 = '' or session_id = $4)
  and (create_time, id) < ($5::timestamptz, $6::uuid)
order by create_time desc, id desc
limit $7

-- name: memories_by_id
-- The given memories that exist.
select * from memory where space = $1 and user_id = $2 and id = any($3::uuid[]) and ready

-- name: memories_in_graph
-- Records that the graph has these memories: the ones that were not deleted meanwhile.
update memory set waiting_relations = null where space = $1 and user_id = $2 and id = any($3::uuid[]) and ready
returning id

-- name: memories_waiting_for_graph
-- Memories that the graph does not have yet, oldest first: a relation leads to an older memory.
select * from memory where space = $1 and user_id = $2 and ready and waiting_relations is not null
order by create_time, id limit 100

-- name: memory_documents
-- The given documents that are of memories.
select document_id::text as document_id from memory where space = $1 and user_id = $2 and document_id::text = any($3::text[])

-- name: memory_ids
-- A page of a user's visible memories by id.
select id, document_id from memory
where space = $1 and user_id = $2 and ready and id > $3
order by id limit $4

-- name: memory_ready
-- Makes a memory visible: the vector tier has it, and the graph too unless $4 says what is still to be stored there.
update memory set ready = true, waiting_relations = $4 where space = $1 and user_id = $2 and id = $3

-- name: memory_types
-- The types that a space has set; no rows if it has set none.
select name from memory_type where space = $1 order by name

-- name: memory_users
-- The users of a space who have memories.
select distinct user_id from memory where space = $1 order by user_id

-- name: note_access
-- Counts memories as read or found.
update memory set access_count = access_count + 1, last_access_time = now()
where space = $1 and user_id = $2 and id = any($3::uuid[])

-- name: note_co_access
-- Counts memories as found together: adds one to each pair's weight, after its decay with time.
insert into memory_co_access as known (space, user_id, first_id, second_id, weight, update_time)
select $1, $2, a.id, b.id, 1, now()
from memory a join memory b on b.space = a.space and b.user_id = a.user_id and a.id < b.id
where a.space = $1 and a.user_id = $2 and a.id = any($3::uuid[]) and b.id = any($3::uuid[])
-- In one order, so that no two calls wait for each other, and without memories that are removed at this moment.
order by a.id, b.id for key share of a, b
on conflict (space, user_id, first_id, second_id) do update
set weight = 1 + known.weight * 0.5 ^ (extract(epoch from now() - known.update_time) / $4::float8), update_time = now()

-- name: note_removed_relations
-- Records relations that the user has removed.
insert into removed_memory_relation (space, user_id, source_id, target_id, type)
select $1, $2, $3, $4, unnest($5::text[])
on conflict do nothing

-- name: past_of_memory
-- What a memory said before, oldest first.
select type, title, content, create_time, replace_time from past_memory
where space = $1 and user_id = $2 and memory_id = $3
order by replace_time

-- name: put_memory_types
-- Replaces the types that a space has set.
with gone as (delete from memory_type where space = $1 and name <> all($2::text[]))
insert into memory_type (space, name) select $1, unnest($2::text[]) on conflict do nothing

-- name: release_session
-- Releases the session, if holder $4 still has it.
delete from memory_session_lease where space = $1 and user_id = $2 and session_id = $3 and holder = $4

-- name: removed_relations
-- Relations from these memories that the user has removed.
select source_id, target_id, type from removed_memory_relation
where space = $1 and user_id = $2 and source_id = any($3::uuid[])

-- name: reopen_session
-- Reopens a closed session, because its summary was deleted.
delete from closed_session where space = $1 and user_id = $2 and summary_id = $3

-- name: restore_memory
-- Adds a visible memory whose text both tiers have; an existing one stays.
insert into memory (space, user_id, id, document_id, type, title, content, tags, importance, metadata, session_id, ready)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, true)
on conflict do nothing

-- name: session_summary
-- The summary of a closed session.
select summary_id from closed_session where space = $1 and user_id = $2 and session_id = $3

-- name: sessions_without_summary
-- A user's closed sessions whose summary does not exist.
select session_id from closed_session c
where space = $1 and user_id = $2
  and not exists (select from memory m where m.space = c.space and m.user_id = c.user_id and m.id = c.summary_id)
order by session_id limit 1000

-- name: unready_memories
-- Memories whose storing or deletion was interrupted some time ago.
select * from memory where space = $1 and user_id = $2 and not ready and create_time < now() - make_interval(secs => $3)
limit 100

-- name: waiting_for_graph_of
-- Those of the given memories whose graph part a job has yet to store.
select id from memory where space = $1 and user_id = $2 and id = any($3::uuid[]) and waiting_relations is not null

-- name: withdraw_memory
-- Hides a memory before it is deleted from the tiers.
update memory set ready = false where space = $1 and user_id = $2 and id = $3 and ready
returning *

-- name: types_of_memories
-- The types of a user's memories.
select distinct type from memory where space = $1 and user_id = $2 and ready
