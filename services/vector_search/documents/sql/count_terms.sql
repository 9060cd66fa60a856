-- Counts the terms of chunks in or out; the last but one lock that a write takes.
select count_terms($1, $2, $3, $4)
