// What was known of facts, of each in the order of knowing: whose word its end is, where that is not noted by which episode it
// became known; whether it can end as stated, and whether searches of the past find it.
UNWIND $p.uuids AS fact
MATCH (v:FactVersion {fact_uuid: fact}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
RETURN v.uuid AS uuid, fact, v.known_from AS since, v.known_until AS until, coalesce(v.ended_by, v.episode_uuid, '') AS told_by,
       v.ended_by IS NOT NULL AND v.stated_until IS NOT NULL AS revocable, v:BraidPastFact AS removed
ORDER BY fact, v.known_from
