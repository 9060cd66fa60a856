// Deletes mentions.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (n:Entity {uuid: row[1]}) USING INDEX SEEK n:Entity(uuid)
CALL (e, n) {
  MATCH (e)-[m:BRAID_MENTIONS]->(n)
  DELETE m
}
