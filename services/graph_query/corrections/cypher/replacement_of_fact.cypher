// Returns the fact that replaced one by a correction, unless that one stands.
MATCH (v:FactVersion {fact_uuid: $p.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
WHERE v.group_id = $p.space AND NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) }
WITH v ORDER BY v.known_until DESC LIMIT 1
WITH v WHERE v.change_kind = 'corrected'
RETURN v.change_replacement AS uuid
