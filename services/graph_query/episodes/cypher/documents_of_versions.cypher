// Returns the documents that have versions.
UNWIND $p.documents AS uuid
MATCH (d:Document {uuid: uuid}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space AND size(d.versions) > 0
RETURN uuid
