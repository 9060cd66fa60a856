// Some of a document's episodes.
MATCH (d:Document {uuid: $p.document, group_id: $p.space})-[:HAS_EPISODE]->(e:Episodic) USING INDEX SEEK d:Document(uuid)
RETURN e.uuid AS uuid LIMIT $p.limit
