// Copies facts to other entities, under new uuids.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.from}]->() USING INDEX SEEK e:RELATES_TO(uuid)
MATCH (a:Entity {uuid: row.source}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: row.target}) USING INDEX SEEK b:Entity(uuid)
CREATE (a)-[f:RELATES_TO]->(b)
SET f = e {.*, uuid: row.uuid, source_node_uuid: row.source, target_node_uuid: row.target, braid_known_from: $p.known, braid_cause: head(e.episodes),
  braid_ends: replace(left(row.source, 18), '-', '') + ' ' + replace(left(row.target, 18), '-', '') + substring(e.braid_ends, 33)}
