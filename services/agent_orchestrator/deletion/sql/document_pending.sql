-- Whether a document that became searchable up to a number still waits for the graph.
select exists (select from document where space = $1 and document_id = $2 and number <= $3)
