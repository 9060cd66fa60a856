-- Sets `current` of chunks, of their postings and of their vectors.
select flag_chunks($1, $2, $3)
