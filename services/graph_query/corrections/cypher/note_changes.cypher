// Notes on the versions that this write closed who withdrew or corrected the fact. Searches of the past find them.
UNWIND $p.rows AS row
MATCH (v:FactVersion {fact_uuid: row.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space AND v.known_until = $p.now
SET v:BraidPastFact, v.change_kind = row.kind, v.change_user = row.user, v.change_reason = row.reason, v.change_episode = row.episode,
    v.change_replacement = row.replacement
