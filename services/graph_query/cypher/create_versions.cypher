// Appends the first version of new facts; versions are never changed, only closed.
UNWIND $p.rows AS row
MATCH (a)-[e:RELATES_TO {uuid: row.fact_uuid}]->(b)
CREATE (:FactVersion {uuid: row.uuid, group_id: $p.space, fact_uuid: e.uuid, source_uuid: a.uuid, target_uuid: b.uuid,
                      name: e.name, fact: e.fact, valid_from: e.valid_from, valid_until: e.valid_until,
                      known_from: $p.now, known_until: $p.open, episode_uuid: head(e.episodes)})
