-- Whether a document that became searchable up to a number is on its way to the graph.
select exists (select from document where space = $1 and document_id = $2 and number <= $3)
