// Creates or updates the documents of episodes with their versions. Returns documents whose validity must be
// recomputed: those with several versions, and those with one version that may not contain all their episodes (episodes
// without a version, `bare`, are valid until it begins).
UNWIND $p.rows AS row
MERGE (d:Document {uuid: row.uuid})
ON CREATE SET d.group_id = $p.space, d.document_id = row.document_id
SET d.title = row.title, d.source = row.source
WITH d, row, coalesce(d.versions, []) AS former
WITH d, row, former, former + [start IN row.versions WHERE NOT start IN former] AS versions WHERE size(versions) > 0
SET d.versions = versions
WITH d, row, former, versions
WHERE size(versions) > 1 OR row.bare OR size(former) = 0 AND EXISTS { (d)-[:HAS_EPISODE]->() }
RETURN d.uuid AS uuid
