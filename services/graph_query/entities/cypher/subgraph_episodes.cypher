// The chunks around some chunks and entities: those begun with, then those that rarer shared entities lead to.
CYPHER 25
CALL () {
  UNWIND $p.chunks AS uuid
  MATCH (s:Episodic {uuid: uuid}) USING INDEX SEEK s:Episodic(uuid) WHERE s.group_id = $p.space
  RETURN s
  UNION
  UNWIND $p.entities AS uuid
  MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
  CALL (n) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(s:Episodic) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN s ORDER BY s.uuid LIMIT $p.max_about
    UNION
    WITH n WHERE COUNT { (n)<-[:BRAID_MENTIONS]-() } <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(s:Episodic)
    RETURN s
  }
  RETURN s
}
WITH collect(DISTINCT s) AS seeds
CALL (seeds) {
  UNWIND seeds AS s
  MATCH (s)-[:BRAID_MENTIONS]->(n:Entity)
  WITH n, count(s) AS hits
  WITH n, hits, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS degree
  CALL (n, degree) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(o:Episodic) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN o ORDER BY o.uuid LIMIT $p.max_about
    UNION
    WITH n, degree WHERE degree <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(o:Episodic)
    RETURN o
  }
  WITH o, sum(hits / log(2.0 + degree)) AS weight
  RETURN collect([o, weight]) AS led
}
WITH seeds, [s IN seeds | [s, 1e9]] + [pair IN led WHERE NOT pair[0] IN seeds] AS found
UNWIND found AS pair
WITH pair[0] AS o, pair[1] AS weight ORDER BY weight DESC, o.uuid LIMIT $p.limit
MATCH (b:BraidPassage {uuid: o.uuid}) USING INDEX SEEK b:BraidPassage(uuid)
RETURN o.uuid AS uuid, b.document_id AS document_id, b.title AS title, weight = 1e9 AS seed ORDER BY weight DESC, uuid
