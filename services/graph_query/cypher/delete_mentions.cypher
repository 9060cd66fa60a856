// Takes mentions back.
UNWIND $p.rows AS row
MATCH (e:Episodic {uuid: row[0]})
MATCH (n:Entity {uuid: row[1]})
MATCH (e)-[m:BRAID_MENTIONS]->(n)
DELETE m
