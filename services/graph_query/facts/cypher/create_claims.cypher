// Records which document or episode stated a fact, and with which ends. A fact stated by many documents has as many
// claims, so claims with a claimant are looked up by claimant.
UNWIND $p.rows AS row
CALL (row) {
  WITH row WHERE row.document_id <> ''
  MERGE (c:FactClaim {group_id: $p.space, claimant: row.document_id, fact_uuid: row.uuid})
  ON CREATE SET c.document_id = row.document_id
  RETURN c
UNION ALL
  WITH row WHERE row.document_id = ''
  MERGE (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space})
  RETURN c
}
SET c.document_uuid = row.document_uuid, c.episode_uuid = row.episode_uuid, c.given = coalesce(c.given, []) + [g IN row.given WHERE NOT g IN coalesce(c.given, [])]
