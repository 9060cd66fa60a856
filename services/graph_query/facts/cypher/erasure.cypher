// name: erase_versions
// Deletes all versions of facts; returns how many were already past before this write.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
WITH v, v.known_until < $p.now AS past
DETACH DELETE v
RETURN sum(CASE WHEN past THEN 1 ELSE 0 END) AS deleted

// name: merge_versions
// Deletes versions; each preceding version takes over the deleted one's end of knowledge, and its mark as the last
// version of a removed fact, with who withdrew or corrected it.
FOREACH (row IN $p.longer |
  MERGE (v:FactVersion {uuid: row.uuid}) SET v.known_until = row.until, v += row.change
  FOREACH (_ IN CASE WHEN row.removed THEN [1] ELSE [] END | SET v:BraidPastFact))
WITH $p.gone AS gone
UNWIND gone AS uuid
MATCH (v:FactVersion {uuid: uuid}) USING INDEX SEEK v:FactVersion(uuid) WHERE v.group_id = $p.space
DETACH DELETE v

// name: record_past_claims
// Records which documents had claimed facts that are deleted.
UNWIND $p.rows AS row
MERGE (:BraidPastClaim {group_id: $p.space, document_id: row[0], fact_uuid: row[1]})

// name: record_past_endings
// Records which documents' episodes had ended facts whose endings remain in past versions only.
UNWIND $p.rows AS row
MERGE (:BraidPastEnding {group_id: $p.space, document_id: row[0], fact_uuid: row[1], cause: row[2]})

// name: revoke_ends
// Resets the end of versions to the stated one.
UNWIND $p.uuids AS uuid
MATCH (v:FactVersion {uuid: uuid}) USING INDEX SEEK v:FactVersion(uuid) WHERE v.group_id = $p.space
SET v.invalid_at = v.stated_at, v.valid_until = v.stated_until, v.ended_by = ''

// name: take_past_claims
// Deletes the records of a document's former claims; returns the facts that no longer exist and that no other document
// had claimed.
MATCH (c:BraidPastClaim {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK c:BraidPastClaim(group_id, document_id, fact_uuid)
WHERE c.fact_uuid >= ''
WITH c, c.fact_uuid AS uuid
DELETE c
WITH DISTINCT uuid
WHERE NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) }
  AND NOT EXISTS { MATCH (o:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK o:BraidPastClaim(fact_uuid) WHERE o.group_id = $p.space AND o.document_id <> $p.document_id }
RETURN uuid

// name: take_past_endings
// Deletes and returns the records of facts that a document's episodes had ended.
MATCH (x:BraidPastEnding {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK x:BraidPastEnding(group_id, document_id, fact_uuid, cause)
WHERE x.fact_uuid >= '' AND x.cause >= ''
WITH x, x.fact_uuid AS uuid, x.cause AS cause
DELETE x
RETURN uuid, cause

// name: versions_of_facts
// Returns the versions of facts, ordered by when they became known: the cause of the end (if none is stored, the
// episode from which the version became known), whether the end can be reset to the stated one, and whether searches of
// the past find the version, and who withdrew or corrected it.
UNWIND $p.uuids AS fact
MATCH (v:FactVersion {fact_uuid: fact}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
RETURN v.uuid AS uuid, fact, v.known_from AS since, v.known_until AS until, coalesce(v.ended_by, v.episode_uuid, '') AS told_by,
       v.ended_by IS NOT NULL AND v.stated_until IS NOT NULL AS revocable, v:BraidPastFact AS removed,
       v {.change_kind, .change_user, .change_reason, .change_episode, .change_replacement} AS change
ORDER BY fact, v.known_from
