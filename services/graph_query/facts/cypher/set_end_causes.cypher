// Changes which episode is the cause of facts' ends; the end itself stays the same.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.braid_ended_by = row.told_by
