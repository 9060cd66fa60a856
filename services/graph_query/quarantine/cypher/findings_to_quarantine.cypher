// Returns findings with all their links.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
RETURN uuid, properties(f) AS finding,
  COLLECT { MATCH (f)-[:ABOUT]->(s:BraidSubject) RETURN [s.name_key, s.type, s.name] } AS subjects,
  COLLECT { MATCH (f)-[:ABOUT]->(g:BraidFinding) RETURN g.uuid } AS about,
  COLLECT { MATCH (f)<-[:ABOUT]-(g:BraidFinding) RETURN g.uuid } AS about_by,
  COLLECT { MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes
