// Notes with which document or episode a fact was given, and how its ends were.
UNWIND $p.rows AS row
MERGE (c:FactClaim {group_id: $p.space, document_id: row.document_id, fact_uuid: row.uuid})
SET c.document_uuid = row.document_uuid, c.episode_uuid = row.episode_uuid, c.given = coalesce(c.given, []) + [g IN row.given WHERE NOT g IN coalesce(c.given, [])]
