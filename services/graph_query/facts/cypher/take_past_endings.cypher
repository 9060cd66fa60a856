// Deletes and returns the records of facts that a document's episodes had ended.
MATCH (x:BraidPastEnding {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK x:BraidPastEnding(group_id, document_id, fact_uuid, cause)
WHERE x.fact_uuid >= '' AND x.cause >= ''
WITH x, x.fact_uuid AS uuid, x.cause AS cause
DELETE x
RETURN uuid, cause
