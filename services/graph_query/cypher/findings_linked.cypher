// The names and episodes that findings are linked to: those given, and those from the given episodes.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space})
  RETURN f
  UNION
  UNWIND $p.episodes AS uuid
  MATCH (f:BraidFinding)-[:FROM]->(:BraidSource {uuid: uuid, group_id: $p.space})
  RETURN f
}
RETURN COLLECT { WITH f MATCH (f)-[:ABOUT]->(s:BraidSubject) RETURN [s.name_key, s.type] } AS subjects,
       COLLECT { WITH f MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
