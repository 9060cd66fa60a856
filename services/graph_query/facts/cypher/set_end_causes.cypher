// Notes that facts end by another episode's word than they did, at the same time.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.braid_ended_by = row.told_by
