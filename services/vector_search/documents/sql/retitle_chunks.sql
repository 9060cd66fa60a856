-- Reindexes stored chunks with a different title if the written version is the latest that has them; returns their
-- former words.
select id, was, length_change, current from retitle_chunks($1, $2, $3, $4)
