// A page of the graph's documents, by their nodes' uuids.
MATCH (d:Document) USING INDEX SEEK d:Document(group_id, uuid) WHERE d.group_id = $p.space AND d.uuid > $p.after
WITH d ORDER BY d.group_id, d.uuid LIMIT $p.limit
RETURN d.document_id AS document_id
