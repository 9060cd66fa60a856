// Who mentions whom among some chunks: the entities that two of them share, those of the chunks begun with, and those begun with.
CYPHER 25
UNWIND $p.episodes AS uuid
MATCH (o:Episodic {uuid: uuid})-[m:BRAID_MENTIONS]->(n:Entity) USING INDEX SEEK o:Episodic(uuid)
WITH n, collect([uuid, m.kind, m.sentences]) AS rows
WHERE size(rows) > 1 OR rows[0][0] IN $p.begun OR n.uuid IN $p.entities
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS frequency,
  any(row IN rows WHERE row[1] = $p.about) OR EXISTS { (n)<-[x:BRAID_MENTIONS]-() WHERE x.kind = $p.about } AS titled, rows
ORDER BY uuid
