// name: count_relations
// Returns how many chunks of the space the graph has, and how many relations of each type start at them.
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  RETURN count(p) AS chunks
}
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  MATCH (n:Episodic {group_id: $p.space, uuid: p.uuid}) USING INDEX SEEK n:Episodic(group_id, uuid)
  MATCH (n)-[r:BRAID_RELATION]->(:Episodic)
  WITH r.type AS type, count(r) AS number
  RETURN collect([type, number]) AS counts
}
RETURN chunks, counts

// name: delete_relations
// Deletes relations between chunks of the space, of one type or of every type.
UNWIND $p.rows AS row
MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
CALL (row, a, b) { // Both ends are given: a lookup between them, never a join.
  MATCH (a)-[r:BRAID_RELATION]->(b) WHERE row.type IS NULL OR r.type = row.type
  RETURN r
}
WITH collect(DISTINCT r) AS gone
FOREACH (r IN gone | DELETE r)
RETURN size(gone) AS deleted

// name: note_timed_relations
// Records that some relation of the space begins or ends, so what is valid can change without a write.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.timed_relations = true

// name: put_relations
// Stores relations between chunks of the space; an existing one is updated.
UNWIND $p.rows AS row
MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
MERGE (a)-[r:BRAID_RELATION {type: row.type}]->(b)
ON CREATE SET r.created_at = $p.now
SET r.strength = row.strength, r.valid_from = row.valid_from, r.valid_until = row.valid_until, r.origin = row.origin,
  r.evidence = row.evidence, r.updated_at = $p.now

// name: relation_revision
// The space's revision.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.revision, 0) AS revision

// name: relations_around
// Relations around some chunks, level by level, up to three steps; relations beyond a contradiction are not followed.
// The revision is read first: a write while the relations are read raises it.
CYPHER 25
OPTIONAL MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
WITH coalesce(b.revision, 0) AS revision, coalesce(b.timed_relations, false) AS timed
CALL () {
  UNWIND $p.seeds AS uuid
  MATCH (s:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:Episodic(group_id, uuid)
  RETURN collect(s) AS seeds, sum(COUNT { (s)-[:BRAID_RELATION]-() }) AS incident
}
CALL (seeds) {
  UNWIND seeds AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS first,
    collect(DISTINCT CASE WHEN $p.weights[r.type] > 0 THEN o END) AS reached
}
CALL (reached) {
  WITH reached WHERE $p.hops > 1
  UNWIND reached[..$p.frontier] AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS second,
    collect(DISTINCT CASE WHEN $p.weights[r.type] > 0 THEN o END) AS reached_second
}
CALL (reached_second) {
  WITH reached_second WHERE $p.hops > 2
  UNWIND reached_second[..$p.frontier] AS n
  CALL (n) {
    MATCH (n)-[r:BRAID_RELATION]-(o:Episodic)
    WHERE r.type IN $p.types AND r.strength >= $p.min_strength
      AND coalesce(r.valid_from, $p.at) <= $p.at AND $p.at < coalesce(r.valid_until, $p.open)
      AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
    RETURN r, o ORDER BY abs($p.weights[r.type]) * r.strength DESC, o.uuid, r.type LIMIT $p.degree
  }
  WITH n, r, o LIMIT $p.edges
  RETURN collect([n.uuid, o.uuid, r.type, r.strength, startNode(r) = n]) AS third
}
RETURN incident, [first, second, third] AS levels, size(reached) > $p.frontier AND $p.hops > 1 OR size(reached_second) > $p.frontier AND $p.hops > 2 AS cut, revision, timed

// name: relations_known
// Returns the stored form of given relations, by position, and which of their ends are chunks of the space.
UNWIND range(0, size($p.rows) - 1) AS place
WITH place, $p.rows[place] AS row
OPTIONAL MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
OPTIONAL MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
OPTIONAL MATCH (a)-[r:BRAID_RELATION]->(b) WHERE r.type = row.type
RETURN place, a IS NOT NULL AS has_source, b IS NOT NULL AS has_target, r.strength AS strength, r.valid_from AS valid_from,
  r.valid_until AS valid_until, r.origin AS origin, r.evidence AS evidence
ORDER BY place

// name: relations_of_chunk
// A page of a chunk's relations, by source, target and type.
MATCH (n:Episodic {group_id: $p.space, uuid: $p.chunk}) USING INDEX SEEK n:Episodic(group_id, uuid)
MATCH (n)-[r:BRAID_RELATION]-(:Episodic)
WHERE r.type IN $p.types AND r.origin IN $p.origins
  AND ($p.direction = 'both' OR ($p.direction = 'outgoing') = (startNode(r) = n))
WITH r, startNode(r).uuid AS source, endNode(r).uuid AS target
WHERE source > $p.source OR source = $p.source AND (target > $p.target OR target = $p.target AND r.type > $p.type)
RETURN source, target, r.type AS type, r.strength AS strength, r.valid_from AS valid_from, r.valid_until AS valid_until,
  r.origin AS origin, r.evidence AS evidence, r.created_at AS created_at, r.updated_at AS updated_at
ORDER BY source, target, type LIMIT $p.limit

// name: relations_of_space
// A page of the space's relations, by source, target and type.
MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= $p.source
WITH p.uuid AS source ORDER BY source
MATCH (n:Episodic {group_id: $p.space, uuid: source}) USING INDEX SEEK n:Episodic(group_id, uuid)
MATCH (n)-[r:BRAID_RELATION]->(o:Episodic)
WHERE r.type IN $p.types AND r.origin IN $p.origins
WITH source, o.uuid AS target, r
WHERE source > $p.source OR target > $p.target OR target = $p.target AND r.type > $p.type
RETURN source, target, r.type AS type, r.strength AS strength, r.valid_from AS valid_from, r.valid_until AS valid_until,
  r.origin AS origin, r.evidence AS evidence, r.created_at AS created_at, r.updated_at AS updated_at
ORDER BY source, target, type LIMIT $p.limit
