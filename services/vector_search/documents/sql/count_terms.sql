-- Adds chunks to the terms' statistics or subtracts them: the second-to-last lock that a write takes.
select count_terms($1, $2, $3, $4)
