-- name: activate_versions
-- Clears `pending` of versions in force: the flags reflect them now.
update document_version set pending = false
where space = $1 and document_id = any ($2) and pending and valid_from <= $3

-- name: add_to_deletion
-- Adds what one transaction of a deletion removed to what the deletion removed before; returns all of it.
insert into deletion as d (space, deletion_id, versions, chunks) values ($1, $2, $3, $4)
on conflict (space, deletion_id) do update set versions = d.versions + $3, chunks = d.chunks + $4
returning versions, chunks

-- name: close_versions
-- Ends versions where new ones begin.
update document_version v set valid_until = u.valid_until
from unnest($2::text[], $3::integer[], $4::timestamptz[]) as u (document_id, version, valid_until)
where v.space = $1 and v.document_id = u.document_id and v.version = u.version

-- name: count_space
-- Adds to the space's counters and raises its revision: the last lock that a write takes.
update space_stats s set
  revision = revision + 1, documents = documents + $2, chunks = chunks + $3, n = n + $4, total = total + $5,
  next_change = (select coalesce(min(v.valid_from), 'infinity') from document_version v
                 where v.space = $1 and v.pending)
where s.space = $1
returning revision

-- name: count_terms
-- Adds chunks to the terms' statistics or subtracts them: the second-to-last lock that a write takes.
select count_terms($1, $2, $3, $4)

-- name: due_documents
-- Documents with a version that has come into force since the flags were last updated.
select distinct document_id from document_version
where space = $1 and pending and valid_from <= now()

-- name: due_spaces
-- Spaces in which a version has come into force since their last write; like spaces_to_index, not limited to one space.
select space from space_stats where next_change <= now() order by space

-- name: find_chunks
-- Which of the given chunks are stored.
select c.id from chunk c where c.space = $1 and c.id = any ($2::uuid[]) order by c.id

-- name: find_documents
-- Which of the given documents are stored, in any version.
select d.document_id from document d where d.space = $1 and d.document_id = any ($2::text[]) order by d.document_id

-- name: flag_chunks
-- Sets `current` for chunks, their postings and their vectors.
select flag_chunks($1, $2, $3)

-- name: get_deletion
-- What a deletion removed.
select versions, chunks from deletion where space = $1 and deletion_id = $2

-- name: get_document
-- A document's version in force with the ids of its chunks in order.
select v.document_id, v.title, v.source, v.metadata, v.version, v.valid_from, v.known_from, v.chunk_count,
       array(select vc.chunk_id from version_chunk vc
             where vc.space = $1 and vc.document_id = $2 and vc.version = v.version
             order by vc.ordinal) as chunk_ids
from document_version v
where v.space = $1 and v.document_id = $2 and v.valid_from <= now() and v.valid_until > now() and v.chunk_count > 0

-- name: insert_chunks
-- Stores the chunks that do not exist yet, with their postings; returns these.
with made as (
  insert into chunk (space, id, document_id, title, content, tsv, length, current)
  select $1, u.id, u.document_id, u.title, u.content, u.tsv,
         (select coalesce(sum(cardinality(w.positions)), 0) from unnest(u.tsv) w), u.current
  from (
    select k.*, chunk_words(s.language, k.title || E'\n' || k.content) as tsv
    from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[])
           as k (id, document_id, title, content, current)
    join space_stats s on s.space = $1
  ) u
  on conflict (space, id) do nothing
  returning id, tsv, length, current
), posted as (
  insert into posting (space, lexeme, chunk_id, tf, length, current)
  select $1, w.lexeme, m.id, cardinality(w.positions), m.length, m.current
  from made m cross join lateral unnest(m.tsv) w
)
select id, length, current from made

-- name: insert_version_chunks
-- Stores the chunks that belong to versions.
insert into version_chunk (space, document_id, version, ordinal, chunk_id, start_char, end_char, page, valid_from)
select $1, u.*
from unnest($2::text[], $3::integer[], $4::integer[], $5::uuid[], $6::integer[], $7::integer[],
            $8::integer[], $9::timestamptz[])
       as u (document_id, version, ordinal, chunk_id, start_char, end_char, page, valid_from)

-- name: insert_versions
-- Stores versions of documents.
insert into document_version
  (space, document_id, version, valid_from, valid_until, content_hash, title, source, metadata, chunk_count,
   known_from, pending)
select $1, u.document_id, u.version, u.valid_from, coalesce(u.valid_until, 'infinity'), u.content_hash, u.title,
       u.source, u.metadata, u.chunk_count, $11, u.valid_from > $11
from unnest($2::text[], $3::integer[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
            $9::jsonb[], $10::integer[])
       as u (document_id, version, valid_from, valid_until, content_hash, title, source, metadata, chunk_count)

-- name: list_chunk_ids
-- A page of the space's chunks by id, including those of former versions.
select id, document_id from chunk
where space = $1 and ($2::uuid is null or id > $2)
order by id
limit $3

-- name: list_documents
-- A page of documents by id, each in its version in force, from id $4 to $5.
select v.document_id, v.title, v.source, v.metadata, v.version, v.valid_from, v.known_from, v.chunk_count
from document_version v
where v.space = $1 and v.document_id > $2 and v.document_id >= $4 and v.document_id < $5
  and v.valid_from <= now() and v.valid_until > now() and v.chunk_count > 0
order by v.document_id
limit $3

-- name: list_spaces
-- The first spaces with chunks after $1, by id. Not limited to one space: for operators.
select space from space_stats where space > $1 and chunks > 0 order by space limit $2

-- name: list_versions
-- A page of a document's versions with numbers below $3, latest first. An open end is null. A document ends with a version
-- without chunks, which is not listed: the end of the version before it is the document's.
select v.version, v.title, v.source, v.valid_from, nullif(v.valid_until, 'infinity') as valid_until, v.known_from,
       v.chunk_count
from document_version v
where v.space = $1 and v.document_id = $2 and v.version < $3 and v.chunk_count > 0
order by v.version desc
limit $4

-- name: lock_documents
-- Locks documents until the transaction ends, creating those that do not exist. The order is by id in code points,
-- independent of the database's collation.
insert into document as d (space, document_id, written_at)
select $1, u.document_id, now() from unnest($2::text[]) as u (document_id)
order by u.document_id collate "C"
on conflict (space, document_id) do update set written_at = excluded.written_at

-- name: lock_space
-- Locks the space's row, so that the next read includes all writes before this one.
select from space_stats where space = $1 for update

-- name: missing_chunks
-- Which of the given chunks would need a new vector: those not stored, or stored with a title that a version of the
-- given time would replace.
select u.id from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as u (id, title, valid_from)
left join lateral (select k.id, k.title from chunk k where k.space = $1 and k.id = u.id offset 0) c on true
where c.id is null or (c.title <> u.title and sets_chunk_title($1, u.id, coalesce(u.valid_from, now())))

-- name: other_chunks
-- Which of the given chunks are stored with another text or under another document.
select c.id
from unnest($2::uuid[], $3::text[], $4::text[]) as u (id, document_id, content)
cross join lateral (select k.id, k.document_id, k.content from chunk k where k.space = $1 and k.id = u.id offset 0) c
where c.document_id <> u.document_id or c.content <> u.content

-- name: put_embeddings
-- Stores vectors of new chunks in their model's table.
select put_embeddings($1, $2, $3, $4, $5)

-- name: read_clock
-- The current time, read after locks are taken, so that later writers read later times.
select clock_timestamp()

-- name: read_language
-- The space's language, and all available ones.
select coalesce((select c.cfgname from space_stats s join pg_ts_config c on c.oid = s.language where s.space = $1),
                'english')::text as language,
       array(select c.cfgname::text from pg_ts_config c
             where c.cfgnamespace = 'pg_catalog'::regnamespace order by c.cfgname) as available

-- name: read_space
-- The space's model and revision, whether a version with a future valid time has come into force since, and for how
-- many more seconds writes are on hold.
select s.model_id, m.name, m.dimension, s.revision, s.next_change <= now() as change_due,
       extract(epoch from s.writes_held_until - clock_timestamp())::float8 as held_seconds
from space_stats s join model m on m.id = s.model_id
where s.space = $1

-- name: read_versions
-- All versions of documents; an open end is null. A document ends with a version without chunks.
select document_id, version, valid_from, nullif(valid_until, 'infinity') as valid_until, content_hash,
       chunk_count = 0 as is_end
from document_version
where space = $1 and document_id = any ($2)
order by document_id, valid_from

-- name: record_deletion
-- Records what a deletion removed, and deletes the space's records older than 30 days, except those locked by
-- concurrent deletions.
with expired as (
  select deletion_id from deletion
  where space = $1 and deleted_at < now() - interval '30 days'
  for update skip locked
), dropped as (
  delete from deletion d using expired e where d.space = $1 and d.deletion_id = e.deletion_id
)
insert into deletion (space, deletion_id, versions, chunks) values ($1, $2, $3, $4)

-- name: recount_terms
-- As count_terms, and subtracts the former words of chunks that were indexed again.
select count_terms($1, $2, $3, $4, $5, $6)

-- name: remove_document
-- Removes a document and everything that belongs to it, except its share of the space's counters.
select versions, ids, current_chunks, current_length from remove_document($1, $2)

-- name: remove_documents
-- Removes some of a space's documents like remove_document, in the order of their ids.
select count(*) filter (where r.versions > 0) as documents, count(*) as rows,
  coalesce(sum(r.versions), 0)::integer as versions, coalesce(sum(cardinality(r.ids)), 0)::integer as chunks,
  coalesce(sum(r.current_chunks), 0)::bigint as current_chunks, coalesce(sum(r.current_length), 0)::bigint as current_length
from (select document_id from document where space = $1 order by document_id limit $2) d
cross join lateral remove_document($1, d.document_id) r

-- name: reset_space
-- Removes what a space without documents has left, except its row, so that its revision is never used again, and the
-- record of the given deletion.
with queries as (delete from query_embedding where space = $1),
models as (delete from space_model where space = $1),
deletions as (delete from deletion where space = $1 and deletion_id <> $2)
update space_stats set model_id = null, language = default, writes_held_until = default where space = $1

-- name: retitle_chunks
-- Reindexes stored chunks with a different title if the written version is the latest that has them; returns their
-- former words.
select id, was, length_change, current from retitle_chunks($1, $2, $3, $4)

-- name: set_language
-- Sets the language of a space without chunks; returns whether the space has that language now.
select set_language($1, $2)

-- name: space_stats
-- A space's counts, revision and model.
select s.documents, s.chunks, s.revision, m.name, m.dimension
from space_stats s left join model m on m.id = s.model_id
where s.space = $1

-- name: stale_flags
-- Chunks of documents whose flag `current` does not match the versions in force.
select c.id, c.length, not c.current as wanted
from chunk c
where c.space = $1 and c.document_id = any ($2) and c.current <> exists (
  select from version_chunk vc
  join document_version v
    on v.space = $1 and v.document_id = vc.document_id and v.version = vc.version
  where vc.space = $1 and vc.chunk_id = c.id and v.valid_from <= $3 and v.valid_until > $3)

-- name: unchanged_documents
-- Documents whose version in force has the given content hash, and since when it has been valid.
select v.document_id, v.valid_from
from unnest($2::text[], $3::text[]) as u (document_id, content_hash)
cross join lateral (
  -- By the key alone: before statistics exist, an index on the times may look equally good to the planner.
  select d.document_id, d.content_hash, d.valid_from, d.valid_until from document_version d
  where d.space = $1 and d.document_id = u.document_id
  offset 0
) v
where v.content_hash = u.content_hash and v.valid_from <= now() and v.valid_until > now()
order by v.document_id

-- name: unlock_documents
-- Deletes rows of documents that locking created.
delete from document where space = $1 and document_id = any ($2)

-- name: version_chunks
-- Chunks of given versions of documents.
select vc.document_id, vc.chunk_id
from unnest($2::text[], $3::integer[]) as u (document_id, version)
cross join lateral (
  select k.document_id, k.chunk_id from version_chunk k
  where k.space = $1 and k.document_id = u.document_id and k.version = u.version offset 0
) vc
