-- Stores versions of documents.
insert into document_version
  (space, document_id, version, valid_from, valid_until, content_hash, title, source, metadata, chunk_count,
   known_from, pending)
select $1, u.document_id, u.version, u.valid_from, coalesce(u.valid_until, 'infinity'), u.content_hash, u.title,
       u.source, u.metadata, u.chunk_count, $11, u.valid_from > $11
from unnest($2::text[], $3::integer[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
            $9::jsonb[], $10::integer[])
       as u (document_id, version, valid_from, valid_until, content_hash, title, source, metadata, chunk_count)
