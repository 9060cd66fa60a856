-- name: get_chunks
-- Chunks by id with the version of their document that was in force at an instant; null is now.
select * from chunks_in_view($1, $2, coalesce($3, now()))

-- name: score_chunks
-- Exact cosine, BM25 and fused score of given chunks; the first columns are the same in every row.
select * from score_chunks($1, $2, $3, $4, $5, $6, $7)

-- name: search_chunks
-- Chunks by vector, by words or by both, with their documents; the first columns are the same in every row.
select * from search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: search_matches
-- As search_chunks, for a phrase, or with the last word as a prefix.
select * from search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: space_state
-- The space's revision, whether no version with a future valid time has come into force since, and its model.
select s.revision, s.next_change > now() as flags_current, m.name as space_model, m.dimension as space_dimension
from space_stats s left join model m on m.id = s.model_id and s.chunks > 0
where s.space = $1
