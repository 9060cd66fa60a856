// The chunks around some chunks and entities: the seeds, then the chunks reached from them over shared entities, rarer
// ones first, and over these entities' facts. Also the mentions among these chunks, of entities that two of them share
// or that a seed names. A mention is encoded as 4 · the chunk's position + its kind, and all are in one row, as sending
// hundreds of rows takes longer than finding them. Only facts valid at the instant count, and earlier events; facts of
// an entity with more than `max_mentions` facts are not followed.
CYPHER 25
CALL () {
  UNWIND $p.chunks AS uuid
  MATCH (s:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:Episodic(group_id, uuid)
  RETURN s
  UNION
  UNWIND $p.entities AS uuid
  MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
  CALL (n) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(s) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN s ORDER BY s.uuid LIMIT $p.max_about
    UNION
    WITH n WHERE COUNT { (n)<-[:BRAID_MENTIONS]-() } <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(s)
    RETURN s
    UNION
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= (floor(f.valid_from / 86400) + 1) * 86400)
    UNWIND f.episodes[..$p.max_cited] AS cited
    MATCH (s:Episodic {group_id: $p.space, uuid: cited}) USING INDEX SEEK s:Episodic(group_id, uuid)
    RETURN s
  }
  RETURN s
}
WITH collect(DISTINCT s) AS seeds
WITH seeds, size(seeds) AS begun
CALL (seeds) {
  UNWIND seeds AS o
  RETURN o, 1e9 AS weight
  UNION ALL
  UNWIND seeds AS s
  MATCH (s)-[:BRAID_MENTIONS]->(n)
  WITH n, count(s) AS hits
  WITH n, hits, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS degree
  CALL (n, degree) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(o) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN o ORDER BY o.uuid LIMIT $p.max_about
    UNION
    WITH n, degree WHERE degree <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(o)
    RETURN o
    UNION
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= (floor(f.valid_from / 86400) + 1) * 86400)
    UNWIND f.episodes[..$p.max_cited] AS cited
    MATCH (o:Episodic {group_id: $p.space, uuid: cited}) USING INDEX SEEK o:Episodic(group_id, uuid)
    RETURN o
  }
  RETURN o, hits / log(2.0 + degree) AS weight
}
WITH begun, o, sum(weight) AS weight ORDER BY weight DESC, o.uuid LIMIT $p.limit
WITH begun, collect(o) AS found
CALL (begun, found) {
  UNWIND range(0, size(found) - 1) AS place
  WITH begun, place, found[place] AS o
  MATCH (o)-[m:BRAID_MENTIONS]->(n)
  WITH begun, n, collect(4 * place + m.kind) AS rows
  WHERE size(rows) > 1 OR rows[0] < 4 * begun
  CALL (n) {
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= (floor(f.valid_from / 86400) + 1) * 86400)
    RETURN collect([f.name, f.uuid, f.episodes[..$p.max_cited]]) AS facts
  }
  RETURN collect([n.uuid, n.name, labels(n), COUNT { (n)<-[:BRAID_MENTIONS]-() },
    any(row IN rows WHERE row % 4 = $p.about) OR EXISTS { (n)<-[x:BRAID_MENTIONS]-() WHERE x.kind = $p.about }, rows, facts]) AS entities
}
RETURN begun, [o IN found | o.uuid] AS episodes, entities
