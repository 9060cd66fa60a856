// name: delete_claims_of_claimants
// Deletes the claims of facts, all of them or a claimant's; returns the claimants and the ends as stated.
UNWIND $p.uuids AS uuid
MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
WHERE c.group_id = $p.space AND ($p.claimant IS NULL OR c.document_id = $p.claimant)
WITH c, uuid, c.document_id AS document_id, c.given AS given
DELETE c
WITH document_id, uuid, given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN document_id, uuid, a.uuid AS source, b.uuid AS target, given

// name: drop_quarantined
// Deletes items that were restored.
UNWIND $p.ids AS id
MATCH (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: id}) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
DELETE i

// name: ends_of_facts
// Returns the entities that facts join.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, a.uuid AS source, b.uuid AS target

// name: episodes_to_quarantine
// Returns episodes with everything that is recorded of them and that extraction by rules does not give again.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid, properties(e) AS episode, p {.document_id, .title, .starts, .own_start, .read} AS passage,
  COLLECT { MATCH (e)-[m:MENTIONS]->(n:Entity) WITH m, n ORDER BY n.uuid 
    RETURN [properties(m), n.name_embedding, n.name, coalesce([l IN labels(n) WHERE l <> 'Entity'][0], ''), n.braid_types, n.braid_types_until] } AS descriptions,
  COLLECT { MATCH (e)-[r:BRAID_RELATION]-(o:Episodic) RETURN [startNode(r).uuid, endNode(r).uuid, properties(r)] } AS relations,
  COLLECT { MATCH (s:BraidSource {group_id: $p.space, uuid: uuid})<-[:FROM]-(f:BraidFinding) USING INDEX SEEK s:BraidSource(group_id, uuid)
    RETURN f.uuid } AS findings,
  COLLECT { MATCH (x:FactEnding {group_id: $p.space, cause: uuid}) USING INDEX SEEK x:FactEnding(group_id, cause, fact_uuid) WHERE x.fact_uuid >= ''
    RETURN [x.fact_uuid, x.at] } AS endings

// name: erase_records_of_facts
// Deletes all past versions of facts, and the records of who had stated and ended them.
UNWIND $p.uuids AS uuid
CALL (uuid) {
  MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
  DELETE v
}
CALL (uuid) {
  MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}
CALL (uuid) {
  MATCH (c:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(fact_uuid) WHERE c.group_id = $p.space
  DELETE c
}
CALL (uuid) {
  MATCH (x:BraidPastEnding {fact_uuid: uuid}) USING INDEX SEEK x:BraidPastEnding(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}

// name: facts_claimed_by
// Returns facts that claimants state, with the ends as stated, a page of each claimant's.
UNWIND $p.claimants AS claimant
CALL (claimant) {
  MATCH (c:FactClaim {group_id: $p.space, claimant: claimant}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
  RETURN c LIMIT $p.limit
}
WITH claimant, c.fact_uuid AS uuid, c.given AS given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN claimant, uuid, given, e.name AS relation, e.fact AS fact, e.valid_at AS valid_at,
  CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS invalid_at,
  [n IN [a, b] | [n.name, coalesce([l IN labels(n) WHERE l <> 'Entity'][0], ''), n.braid_types, n.braid_types_until]] AS ends

// name: facts_stated_by_document
// Returns facts that only a document states, directly or by its episodes.
MATCH (c:FactClaim {group_id: $p.space, claimant: $p.document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH c.fact_uuid AS uuid
WHERE NOT EXISTS {
  MATCH (o:FactClaim {fact_uuid: uuid}) USING INDEX SEEK o:FactClaim(fact_uuid)
  WHERE o.group_id = $p.space AND o.document_id <> $p.document_id AND NOT EXISTS {
    MATCH (p:BraidPassage {group_id: $p.space, uuid: o.episode_uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
    WHERE p.document_id = $p.document_id } }
RETURN uuid LIMIT $p.limit

// name: facts_stated_by_episodes
// Returns facts that only the given episodes state.
UNWIND $p.claimants AS claimant
MATCH (c:FactClaim {group_id: $p.space, claimant: claimant}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH DISTINCT c.fact_uuid AS uuid
WHERE NOT EXISTS {
  MATCH (o:FactClaim {fact_uuid: uuid}) USING INDEX SEEK o:FactClaim(fact_uuid)
  WHERE o.group_id = $p.space AND NOT o.document_id IN $p.claimants }
RETURN uuid

// name: facts_to_quarantine
// Returns facts with everything that is recorded of them: the current state, who states it, how it ends, and its past
// versions. A fact that is only past has no current state.
UNWIND $p.uuids AS uuid
OPTIONAL MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, properties(e) AS fact,
  CASE WHEN e IS NULL THEN null ELSE [a.name, coalesce([l IN labels(a) WHERE l <> 'Entity'][0], ''), a.braid_types, a.braid_types_until] END AS source,
  CASE WHEN e IS NULL THEN null ELSE [b.name, coalesce([l IN labels(b) WHERE l <> 'Entity'][0], ''), b.braid_types, b.braid_types_until] END AS target,
  COLLECT { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space
    WITH c ORDER BY c.document_id RETURN [c.document_id, c.given] } AS claims,
  COLLECT { MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
    WITH v ORDER BY v.known_from, v.uuid RETURN [properties(v), v:BraidPastFact] } AS versions,
  COLLECT { MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) WHERE x.group_id = $p.space
    WITH x ORDER BY x.cause RETURN [x.cause, x.at] } AS endings,
  COLLECT { MATCH (c:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(fact_uuid) WHERE c.group_id = $p.space
    WITH c ORDER BY c.document_id RETURN c.document_id } AS past_claims,
  COLLECT { MATCH (x:BraidPastEnding {fact_uuid: uuid}) USING INDEX SEEK x:BraidPastEnding(fact_uuid) WHERE x.group_id = $p.space
    WITH x ORDER BY x.document_id, x.cause RETURN [x.document_id, x.cause] } AS past_endings

// name: findings_from_episodes
// Returns the findings that come from the given episodes alone.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding)-[:FROM]->(s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
WITH DISTINCT f
WHERE NOT EXISTS { (f)-[:FROM]->(o:BraidSource) WHERE NOT o.uuid IN $p.uuids }
RETURN f.uuid AS uuid

// name: findings_to_quarantine
// Returns findings with all their links.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
RETURN uuid, properties(f) AS finding,
  COLLECT { MATCH (f)-[:ABOUT]->(s:BraidSubject) RETURN [s.name_key, s.type, s.name] } AS subjects,
  COLLECT { MATCH (f)-[:ABOUT]->(g:BraidFinding) RETURN g.uuid } AS about,
  COLLECT { MATCH (f)<-[:ABOUT]-(g:BraidFinding) RETURN g.uuid } AS about_by,
  COLLECT { MATCH (f)-[:FROM]->(s:BraidSource) RETURN s.uuid } AS episodes

// name: past_endings_of_document
// Returns the facts that a document's episodes had ended.
MATCH (x:BraidPastEnding {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK x:BraidPastEnding(group_id, document_id, fact_uuid, cause)
WHERE x.fact_uuid >= '' AND x.cause >= ''
RETURN DISTINCT x.fact_uuid AS uuid

// name: past_facts_of_document
// Returns facts that a document had stated: those that exist no more, and whether it alone had stated them.
MATCH (c:BraidPastClaim {group_id: $p.space, document_id: $p.document_id}) USING INDEX SEEK c:BraidPastClaim(group_id, document_id, fact_uuid)
WHERE c.fact_uuid >= ''
WITH c.fact_uuid AS uuid
RETURN uuid, NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) }
  AND NOT EXISTS { MATCH (o:BraidPastClaim {fact_uuid: uuid}) USING INDEX SEEK o:BraidPastClaim(fact_uuid)
    WHERE o.group_id = $p.space AND o.document_id <> $p.document_id } AS alone
LIMIT $p.limit

// name: purge_quarantined
// Deletes some items of a quarantine for good, and the quarantine itself when it has no item left.
OPTIONAL MATCH (q:BraidQuarantine {group_id: $p.space, id: $p.quarantine}) USING INDEX SEEK q:BraidQuarantine(group_id, id)
CALL () {
  MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
  WHERE i.group_id = $p.space AND i.quarantine_id = $p.quarantine AND i.id >= ''
  WITH i LIMIT $p.limit
  WITH i, i.kind AS kind
  DELETE i
  RETURN collect(kind) AS kinds
}
FOREACH (_ IN CASE WHEN size(kinds) < $p.limit AND q IS NOT NULL THEN [1] ELSE [] END | DELETE q)
RETURN kinds

// name: put_quarantine
// Stores items of a quarantine, creating it with the first.
MERGE (q:BraidQuarantine {group_id: $p.space, id: $p.quarantine})
ON CREATE SET q.created_at = $p.now, q.counts = [0, 0, 0, 0]
SET q.counts = [kind IN range(0, 3) | q.counts[kind] + $p.counts[kind]]
WITH q
UNWIND $p.items AS item
MERGE (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: item.id})
SET i += item, i.created_at = $p.now

// name: quarantined_content
// Returns an item with its content.
MATCH (i:BraidQuarantined {group_id: $p.space, quarantine_id: $p.quarantine, id: $p.id}) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
RETURN i.kind AS kind, i.content AS content, i.subject AS subject, i.document_id AS document_id, i.text AS text

// name: quarantined_items
// A page of a quarantine's items, by id: an id begins with its kind, in the order in which kinds are restored.
MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
WHERE i.group_id = $p.space AND i.quarantine_id = $p.quarantine AND i.id > $p.after
WITH i ORDER BY i.group_id, i.quarantine_id, i.id LIMIT $p.limit
RETURN i.id AS id, i.kind AS kind, i.subject AS subject, i.document_id AS document_id, i.text AS text, i.created_at AS created_at
ORDER BY id

// name: quarantines_of_space
// A page of the space's quarantines by id, with the number of items that each still has.
MATCH (q:BraidQuarantine) USING INDEX SEEK q:BraidQuarantine(group_id, id) WHERE q.group_id = $p.space AND q.id > $p.after
WITH q ORDER BY q.group_id, q.id LIMIT $p.limit
RETURN q.id AS id, q.created_at AS created_at, q.counts AS counts,
  COUNT { MATCH (i:BraidQuarantined) USING INDEX SEEK i:BraidQuarantined(group_id, quarantine_id, id)
    WHERE i.group_id = $p.space AND i.quarantine_id = q.id AND i.id >= '' } AS items
ORDER BY id

// name: remove_findings
// Deletes findings; returns how many had vectors.
UNWIND $p.uuids AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
WITH collect(f) AS gone
WITH gone, size([f IN gone WHERE f.embedding IS NOT NULL]) AS embedded
FOREACH (f IN gone | DETACH DELETE f)
RETURN embedded

// name: restore_descriptions
// Sets when episodes described entities to the stored times.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.episode})-[m:MENTIONS]->(n:Entity) USING INDEX SEEK e:Episodic(group_id, uuid)
WHERE m.name = row.name AND m.type = row.type
SET m.created_at = row.created_at, m.uuid = row.uuid
RETURN n.uuid AS uuid

// name: restore_episodes
// Sets episodes' times, and whether a language model has read them, to the stored ones.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET e.created_at = row.created_at, e.valid_at = row.valid_at, p.read = row.read

// name: restore_fact_records
// Creates past versions of facts, and the records of who had stated and ended them.
UNWIND $p.rows AS row
CALL (row) {
  UNWIND row.versions AS version
  MERGE (v:FactVersion {uuid: version[0].uuid})
  SET v = version[0]
  FOREACH (_ IN CASE WHEN version[1] THEN [1] ELSE [] END | SET v:BraidPastFact)
}
CALL (row) {
  UNWIND row.endings AS ending
  MERGE (x:FactEnding {group_id: $p.space, cause: ending[0], fact_uuid: row.uuid})
  SET x.at = ending[1]
}
CALL (row) {
  UNWIND row.past_claims AS document_id
  MERGE (:BraidPastClaim {group_id: $p.space, document_id: document_id, fact_uuid: row.uuid})
}
CALL (row) {
  UNWIND row.past_endings AS ending
  MERGE (:BraidPastEnding {group_id: $p.space, document_id: ending[0], fact_uuid: row.uuid, cause: ending[1]})
}

// name: restore_fact_states
// Sets the state of facts to a stored one. What depends on the present graph stays: their ends, citations and vectors.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e = e {.episodes, .braid_ends, .source_node_uuid, .target_node_uuid, .fact_embedding, .next_model, .next_embedding}
SET e += row.state

// name: restore_finding_sources
// Links findings to an episode that they come from; returns those that exist.
UNWIND $p.findings AS uuid
MATCH (f:BraidFinding {uuid: uuid, group_id: $p.space}) USING INDEX SEEK f:BraidFinding(uuid)
MERGE (s:BraidSource {group_id: $p.space, uuid: $p.episode})
MERGE (f)-[:FROM]->(s)
RETURN uuid

// name: restore_findings
// Creates findings with their stored fields; returns those that are new.
UNWIND $p.rows AS row
OPTIONAL MATCH (old:BraidFinding {uuid: row.uuid}) USING INDEX SEEK old:BraidFinding(uuid)
WITH row WHERE old IS NULL
CREATE (f:BraidFinding)
SET f = row.fields
RETURN row.uuid AS uuid

// name: restore_relations
// Restores relations between episodes; returns, by position, those whose ends do not both exist.
UNWIND range(0, size($p.rows) - 1) AS place
WITH place, $p.rows[place] AS row
OPTIONAL MATCH (a:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK a:Episodic(group_id, uuid)
OPTIONAL MATCH (b:Episodic {group_id: $p.space, uuid: row[1]}) USING INDEX SEEK b:Episodic(group_id, uuid)
CALL (row, a, b) {
  WITH row, a, b WHERE a IS NOT NULL AND b IS NOT NULL
  MERGE (a)-[r:BRAID_RELATION {type: row[2].type}]->(b)
  ON CREATE SET r = row[2]
}
WITH place WHERE a IS NULL OR b IS NULL
RETURN place ORDER BY place

// name: restore_type_histories
// Sets the former types of entities, which queries about the past use; entities that have another type by now are skipped.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[0], type: row[1]}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
SET n.braid_types = row[2], n.braid_types_until = row[3]

// name: take_past_claims_of_facts
// Deletes a document's past claims to the given facts.
UNWIND $p.uuids AS uuid
MATCH (c:BraidPastClaim {group_id: $p.space, document_id: $p.document_id, fact_uuid: uuid}) USING INDEX SEEK c:BraidPastClaim(group_id, document_id, fact_uuid)
DELETE c
