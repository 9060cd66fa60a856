-- Marks a document as deleted: its content that waits for the graph is removed from the graph instead.
update document set gone = true where space = $1 and document_id = $2 and not gone
