// Returns facts that a document had stated: those that exist no more, and whether it alone had stated them.
MATCH (c:BraidPastClaim {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK c:BraidPastClaim(group_id, document_id, fact_uuid)
WHERE c.fact_uuid >= ''
WITH c.fact_uuid AS uuid
RETURN uuid, NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) }
  AND NOT EXISTS { MATCH (o:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK o:BraidPastClaim(fact_uuid)
    WHERE o.group_id = $p.space AND o.document_id <> $p.document_id } AS alone
LIMIT $p.limit
