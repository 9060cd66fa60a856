-- Deletes rows of documents that locking created.
delete from document where space = $1 and document_id = any ($2)
