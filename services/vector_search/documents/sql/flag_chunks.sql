-- Sets `current` for chunks, their postings and their vectors.
select flag_chunks($1, $2, $3)
