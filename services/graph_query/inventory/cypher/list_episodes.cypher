// A page of the space's episodes by uuid, with the document of each.
MATCH (e:Episodic) USING INDEX SEEK e:Episodic(group_id, uuid) WHERE e.group_id = $p.space AND e.uuid > $p.after
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(e)
RETURN e.uuid AS uuid, coalesce(head(collect(d.document_id)), '') AS document_id ORDER BY uuid
