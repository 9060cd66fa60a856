-- Exact cosine, BM25 and fused score of given chunks; the first columns are the same in every row.
select * from score_chunks($1, $2, $3, $4, $5, $6, $7)
