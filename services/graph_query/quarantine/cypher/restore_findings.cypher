// Creates findings with their stored fields; returns those that are new.
UNWIND $p.rows AS row
OPTIONAL MATCH (old:BraidFinding {uuid: row.uuid}) USING INDEX SEEK old:BraidFinding(uuid)
WITH row WHERE old IS NULL
CREATE (f:BraidFinding)
SET f = row.fields
RETURN row.uuid AS uuid
