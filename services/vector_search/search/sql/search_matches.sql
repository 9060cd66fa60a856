-- The same with a match other than of any word: a phrase, or the last word as a beginning.
select * from search_chunks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
