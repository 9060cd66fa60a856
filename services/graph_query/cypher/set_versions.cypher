// Notes when documents' versions begin.
UNWIND $p.rows AS row
MATCH (d:Document {uuid: row.uuid}) WHERE d.group_id = $p.space
SET d.versions = row.versions
