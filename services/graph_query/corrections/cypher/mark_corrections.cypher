// Links facts that this write created to the facts that they correct.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from = $p.known
SET e.braid_corrects = row.corrects
