-- Removes a document and everything that belongs to it, except its share of the space's counters.
select versions, ids, current_chunks, current_length from remove_document($1, $2)
