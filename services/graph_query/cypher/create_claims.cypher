// Notes with which document or episode a fact was given, and how its ends were.
UNWIND $p.rows AS row
MERGE (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space})
SET c.claimant = nullIf(row.document_id, ''), c.document_uuid = row.document_uuid, c.episode_uuid = row.episode_uuid, c.given = coalesce(c.given, []) + [g IN row.given WHERE NOT g IN coalesce(c.given, [])]
