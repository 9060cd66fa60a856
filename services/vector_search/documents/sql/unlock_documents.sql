-- Removes documents that locking has made.
delete from document where space = $1 and document_id = any ($2)
