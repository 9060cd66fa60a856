// Deletes and returns the given documents that have no episode left.
UNWIND $p.uuids AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE NOT EXISTS { (d)-[:HAS_EPISODE]->() }
WITH d, d.document_id AS document_id
DELETE d
RETURN collect(document_id) AS documents
