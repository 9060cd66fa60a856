// Notes which episode first brought facts, once these cite their episodes.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() WHERE size(e.episodes) > 0
MATCH (v:FactVersion {fact_uuid: uuid}) WHERE v.known_from = $p.known AND v.episode_uuid IS NULL
SET v.episode_uuid = head(e.episodes)
