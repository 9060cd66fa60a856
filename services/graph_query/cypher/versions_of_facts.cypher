// What was known of facts, of each in the order of knowing, and by which episodes.
UNWIND $p.uuids AS fact
MATCH (v:FactVersion {fact_uuid: fact}) WHERE v.group_id = $p.space
RETURN v.uuid AS uuid, fact, v.known_until AS until, v.episode_uuid AS episode ORDER BY fact, v.known_from
