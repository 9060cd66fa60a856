// Returns whether facts stand, and whether the last state of those that do not was withdrawn or corrected.
UNWIND $p.uuids AS uuid
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, e IS NOT NULL AS stands,
  head(COLLECT { MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
    RETURN v.change_kind IS NOT NULL ORDER BY v.known_until DESC LIMIT 1 }) AS withdrawn
