// Takes back what findings are linked to.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid})-[r:ABOUT|FROM]->() USING INDEX SEEK f:BraidFinding(uuid)
DELETE r
