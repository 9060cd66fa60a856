// Links findings to the names and findings that they are about, and to the episodes that they come from.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.uuid}) USING INDEX SEEK f:BraidFinding(uuid)
CALL (f, row) {
  UNWIND row.subjects AS subject
  MERGE (s:BraidSubject {group_id: $p.space, name_key: subject[0], type: subject[1]})
  ON CREATE SET s.name = subject[2]
  MERGE (f)-[:ABOUT]->(s)
}
CALL (f, row) {
  UNWIND row.findings AS uuid
  MATCH (g:BraidFinding {uuid: uuid}) USING INDEX SEEK g:BraidFinding(uuid)
  MERGE (f)-[:ABOUT]->(g)
}
CALL (f, row) {
  UNWIND row.episodes AS uuid
  MERGE (s:BraidSource {group_id: $p.space, uuid: uuid})
  MERGE (f)-[:FROM]->(s)
}
