-- As count_terms, and subtracts the former words of chunks that were indexed again.
select count_terms($1, $2, $3, $4, $5, $6)
