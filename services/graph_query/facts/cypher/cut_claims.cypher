// Removes stated ends from claims, and deletes claims that have none left. Claims with a claimant are looked up by
// claimant.
UNWIND $p.rows AS row
CALL (row) {
  WITH row WHERE row.document_id <> ''
  MATCH (c:FactClaim {group_id: $p.space, claimant: row.document_id, fact_uuid: row.uuid})
  USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid)
  RETURN c
UNION ALL
  WITH row WHERE row.document_id = ''
  MATCH (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
  RETURN c
}
SET c.given = [g IN c.given WHERE NOT g IN row.given]
WITH c WHERE size(c.given) = 0
DELETE c
