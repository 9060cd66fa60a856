-- Deletes documents that locking has created.
delete from document where space = $1 and document_id = any ($2)
