-- As search_chunks, for a phrase, or with the last word as a prefix.
select * from search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
