// Deletes findings' links to subjects, other findings and episodes.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid})-[r:ABOUT|FROM]->() USING INDEX SEEK f:BraidFinding(uuid)
DELETE r
