// Takes back how documents gave facts; a claim of which nothing is left goes.
UNWIND $p.rows AS row
MATCH (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space})
SET c.given = [g IN c.given WHERE NOT g IN row.given]
WITH c WHERE size(c.given) = 0
DELETE c
