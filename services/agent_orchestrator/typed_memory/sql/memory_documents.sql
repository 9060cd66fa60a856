-- The given documents that are of memories.
select document_id::text as document_id from memory where space = $1 and user_id = $2 and document_id::text = any($3::text[])
