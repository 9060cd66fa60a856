// Sets findings' vectors; an empty vector removes the stored one.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.uuid}) USING INDEX SEEK f:BraidFinding(uuid)
FOREACH (_ IN CASE WHEN size(row.vector) = 0 THEN [1] ELSE [] END | REMOVE f.embedding)
WITH f, row WHERE size(row.vector) > 0
CALL db.create.setNodeVectorProperty(f, 'embedding', row.vector)
