// Returns the facts that a document's episodes had ended.
MATCH (x:BraidPastEnding {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK x:BraidPastEnding(group_id, document_id, fact_uuid, cause)
WHERE x.fact_uuid >= '' AND x.cause >= ''
RETURN DISTINCT x.fact_uuid AS uuid
