-- A document is deleted: what waits of it for the graph is to be taken out of the graph instead.
update document set gone = true where space = $1 and document_id = $2 and not gone
