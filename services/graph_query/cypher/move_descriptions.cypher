// What episodes say of entities is said of others.
UNWIND $p.rows AS row
MATCH (e:Episodic {uuid: row[0]})
MATCH (a:Entity {uuid: row[1]})
MATCH (b:Entity {uuid: row[2]})
MATCH (e)-[m:MENTIONS]->(a)
MERGE (e)-[k:MENTIONS]->(b)
SET k = properties(m)
DELETE m
