// Sets the episode that first stated new facts, once their citations exist.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
WHERE e.braid_known_from = $p.known AND e.braid_cause IS NULL AND size(e.episodes) > 0
SET e.braid_cause = head(e.episodes)
