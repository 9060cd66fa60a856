// Returns the names and episodes that the given findings, and the findings from the given episodes, are linked to.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
  RETURN f
  UNION
  UNWIND $p.episodes AS uuid
  MATCH (f:BraidFinding)-[:FROM]->(s1:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s1:BraidSource(group_id, uuid)
  RETURN f
}
RETURN COLLECT { WITH f MATCH (f)-[:ABOUT]->(s:BraidSubject) RETURN [s.name_key, s.type] } AS subjects,
       COLLECT { WITH f MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
