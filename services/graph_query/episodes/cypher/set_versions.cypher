// Sets the starts of documents' versions.
UNWIND $p.rows AS row
MATCH (d:Document {uuid: row.uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space
SET d.versions = row.versions
