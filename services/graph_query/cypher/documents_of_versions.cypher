// Those of the documents that have several versions.
UNWIND $p.documents AS uuid
MATCH (d:Document {uuid: uuid}) WHERE d.group_id = $p.space AND size(d.versions) > 1
RETURN uuid
