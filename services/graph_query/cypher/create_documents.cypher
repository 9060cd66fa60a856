// Documents that episodes belong to, with the versions that these bring; tells which have several, or older episodes of none.
UNWIND $p.rows AS row
MERGE (d:Document {uuid: row.uuid})
ON CREATE SET d.group_id = $p.space, d.document_id = row.document_id
SET d.title = row.title, d.source = row.source
WITH d, row, coalesce(d.versions, []) AS former WHERE size(row.versions) > 0
WITH d, former, former + [start IN row.versions WHERE NOT start IN former] AS versions
SET d.versions = versions
WITH d, former, versions WHERE size(versions) > 1 OR size(former) = 0 AND EXISTS { (d)-[:HAS_EPISODE]->() }
RETURN d.uuid AS uuid
