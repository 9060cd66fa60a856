// Moves episodes' descriptions from entities to other entities.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (a:Entity {uuid: row[1]}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: row[2]}) USING INDEX SEEK b:Entity(uuid)
CALL (e, a) {
  MATCH (e)-[m:MENTIONS]->(a)
  RETURN m
}
MERGE (e)-[k:MENTIONS]->(b)
SET k = properties(m)
DELETE m
