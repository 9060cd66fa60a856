-- Counts the terms of chunks in or out, and out those that chunks indexed anew had before.
select count_terms($1, $2, $3, $4, $5, $6)
