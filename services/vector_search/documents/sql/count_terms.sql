-- Adds chunks to the terms' statistics or subtracts them: the last lock but one that a write takes.
select count_terms($1, $2, $3, $4)
