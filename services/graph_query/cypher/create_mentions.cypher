// Episodes' mentions of entities: how each is named and in which sentences, counted from 0.
UNWIND $p.rows AS row
MATCH (e:Episodic {uuid: row[0]})
UNWIND row[1] AS mention
MATCH (n:Entity {uuid: mention[0]})
CREATE (e)-[:BRAID_MENTIONS {group_id: $p.space, kind: mention[1], sentences: mention[2]}]->(n)
