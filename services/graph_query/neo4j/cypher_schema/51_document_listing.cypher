// Documents of a space by uuid.
CREATE INDEX braid_document_listing IF NOT EXISTS FOR (n:Document) ON (n.group_id, n.uuid)
