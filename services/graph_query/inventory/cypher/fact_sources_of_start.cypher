// A page of the space's stated facts of a given start, after a uuid, with the documents that state each.
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from = $p.after_from AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
WITH e.valid_from AS valid_from, e.uuid AS uuid
RETURN valid_from, uuid, COLLECT {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space
  OPTIONAL MATCH (p:BraidPassage {group_id: $p.space, uuid: c.episode_uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
  WITH CASE WHEN c.episode_uuid IS NULL THEN c.document_id ELSE p.document_id END AS document_id WHERE document_id IS NOT NULL
  RETURN DISTINCT document_id } AS documents
ORDER BY valid_from, uuid
