// Creates indexes of every kind in use, writes a little graph and reads it back by each of them.
CREATE CONSTRAINT rehearsed IF NOT EXISTS FOR (n:Entity) REQUIRE (n.group_id, n.uuid) IS UNIQUE;
CREATE INDEX named IF NOT EXISTS FOR (n:Entity) ON (n.group_id, n.name, n.uuid);
CREATE FULLTEXT INDEX facts IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON EACH [e.name, e.fact, e.group_id];
CYPHER 25 CREATE VECTOR INDEX meanings IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON e.fact_embedding WITH [e.group_id] OPTIONS {indexConfig: {`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}};
CALL db.awaitIndexes(60);
UNWIND range(1, 500) AS i MERGE (n:Entity {group_id: $space, uuid: toString(i)}) SET n.name = 'entity ' + i;
MATCH (a:Entity {group_id: $space}), (b:Entity {group_id: $space}) WHERE toInteger(b.uuid) = toInteger(a.uuid) + 1 CREATE (a)-[e:RELATES_TO {group_id: $space, uuid: a.uuid, name: 'NEXT', fact: a.name + ' precedes ' + b.name}]->(b) WITH e CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', [x IN range(1, 8) | rand()]);
CALL db.index.fulltext.queryRelationships('facts', 'fact:"precedes"') YIELD relationship AS e, score WHERE e.group_id = $space RETURN e.uuid, score LIMIT 20;
CYPHER 25 MATCH ()-[e:RELATES_TO]->() SEARCH e IN (VECTOR INDEX meanings FOR [1, 0, 1, 0, 1, 0, 1, 0] WHERE e.group_id = $space LIMIT 20) SCORE AS score RETURN e.uuid, score ORDER BY score DESC;
MATCH (n:Entity {group_id: $space, uuid: '7'})-[e:RELATES_TO]-(m) WHERE e.group_id = $space WITH m, count(e) AS degree ORDER BY degree DESC, m.uuid LIMIT 10 RETURN m.name, degree;
MATCH (n:Entity) WHERE n.group_id = $space AND n.name >= 'entity 2' RETURN n.name, n.uuid ORDER BY n.group_id, n.name, n.uuid LIMIT 20;
SHOW INDEXES;
MATCH (n:Entity {group_id: $space}) DETACH DELETE n
