-- Removes a document with everything of it but the space's counters.
select versions, ids, current_chunks, current_length from remove_document($1, $2)
