-- Stores the chunks that belong to versions.
insert into version_chunk (space, document_id, version, ordinal, chunk_id, start_char, end_char, page, valid_from)
select $1, u.*
from unnest($2::text[], $3::integer[], $4::integer[], $5::uuid[], $6::integer[], $7::integer[],
            $8::integer[], $9::timestamptz[])
       as u (document_id, version, ordinal, chunk_id, start_char, end_char, page, valid_from)
