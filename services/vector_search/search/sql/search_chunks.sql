-- Chunks by vector, by words or by both, with their documents; the first columns are the same in every row.
select * from search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
