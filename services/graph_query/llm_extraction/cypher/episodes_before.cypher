// The latest episodes of a document, the latest first.
MATCH (d:Document {uuid: $p.document, group_id: $p.space})-[:HAS_EPISODE]->(e:Episodic) USING INDEX SEEK d:Document(uuid)
WITH e ORDER BY e.created_at DESC, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.name AS name, e.content AS content, e.source_description AS source, e.created_at AS created_at, e.valid_at AS valid_at
