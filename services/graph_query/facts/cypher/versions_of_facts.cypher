// Returns the versions of facts, ordered by when they became known: the cause of the end (if none is stored, the
// episode from which the version became known), whether the end can be reset to the stated one, and whether searches of
// the past find the version, and who withdrew or corrected it.
UNWIND $p.uuids AS fact
MATCH (v:FactVersion {fact_uuid: fact}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
RETURN v.uuid AS uuid, fact, v.known_from AS since, v.known_until AS until, coalesce(v.ended_by, v.episode_uuid, '') AS told_by,
       v.ended_by IS NOT NULL AND v.stated_until IS NOT NULL AS revocable, v:BraidPastFact AS removed,
       v {.change_kind, .change_user, .change_reason, .change_episode, .change_replacement} AS change
ORDER BY fact, v.known_from
