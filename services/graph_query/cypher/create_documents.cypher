// Documents that the new episodes belong to.
UNWIND $p.rows AS row
MERGE (d:Document {uuid: row.uuid})
ON CREATE SET d.group_id = $p.space, d.document_id = row.document_id
SET d.title = row.title, d.source = row.source
