// Some of a document's episodes.
MATCH (:Document {uuid: $p.document, group_id: $p.space})-[:HAS_EPISODE]->(e:Episodic)
RETURN e.uuid AS uuid LIMIT $p.limit
