// Creates episodes' mentions of entities: kind, spelling, and sentences, counted from 0.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
UNWIND row[1] AS mention
MATCH (n:Entity {uuid: mention[0]}) USING INDEX SEEK n:Entity(uuid)
CREATE (e)-[:BRAID_MENTIONS {kind: mention[1], sentences: mention[2], name: mention[3]}]->(n)
