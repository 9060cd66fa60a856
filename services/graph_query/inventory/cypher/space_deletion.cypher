// name: delete_space_facts
// Deletes some of the space's stated facts with their claims, which an index on claimants does not have without one; returns
// how many facts.
CALL () {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= $p.least AND e.uuid >= ''
  RETURN e LIMIT $p.limit
}
WITH e, e.uuid AS uuid
DELETE e
WITH uuid
CALL (uuid) {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
  DELETE c
}
RETURN count(*) AS facts

// name: delete_space_episodes
// Deletes some of the space's episodes with their mentions; returns how many of both.
CALL () {
  MATCH (n:Episodic) USING INDEX SEEK n:Episodic(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
}
WITH n, COUNT { (n)-[:BRAID_MENTIONS]->() } AS mentions
DETACH DELETE n
RETURN count(*) AS episodes, sum(mentions) AS mentions

// name: delete_space_sentences
// Deletes some of the space's co-occurrences with their sentences; returns how many.
CALL () {
  MATCH (n:Entity)-[r:CO_OCCURS]->() USING INDEX SEEK n:Entity(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN r LIMIT $p.limit
}
WITH r, r.sentence_uuid AS sentence
DELETE r
WITH collect(DISTINCT sentence) AS sentences, count(*) AS local_facts
CALL (sentences) {
  UNWIND sentences AS uuid
  MATCH (s:BraidSentence {uuid: uuid}) USING INDEX SEEK s:BraidSentence(uuid)
  DELETE s
}
RETURN local_facts

// name: delete_space_entities
// Deletes some of the space's entities, with what still joins them; returns how many.
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
}
DETACH DELETE n
RETURN count(*) AS entities

// name: delete_space_fact_versions
// Deletes some of the versions of the space's facts; returns how many.
CALL () {
  MATCH (n:FactVersion) USING INDEX SEEK n:FactVersion(group_id, valid_from, fact_uuid)
  WHERE n.group_id = $p.space AND n.valid_from >= $p.least AND n.fact_uuid >= ''
  RETURN n LIMIT $p.limit
}
DELETE n
RETURN count(*) AS versions

// name: delete_space_findings
// Deletes some of the space's findings; returns how many.
CALL () {
  MATCH (n:BraidFinding) USING INDEX SEEK n:BraidFinding(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
}
DETACH DELETE n
RETURN count(*) AS findings

// name: delete_space_records
// Deletes some of each kind of the space's other nodes, except its own, which keeps its revision, and the record of the given
// deletion; returns how many.
CALL () {
  MATCH (n:EntityName) USING INDEX SEEK n:EntityName(group_id, name_key, type) WHERE n.group_id = $p.space AND n.name_key >= '' AND n.type >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:Document) USING INDEX SEEK n:Document(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidPassage) USING INDEX SEEK n:BraidPassage(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:FactClaim) USING INDEX SEEK n:FactClaim(group_id, claimant, fact_uuid) WHERE n.group_id = $p.space AND n.claimant >= '' AND n.fact_uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:FactEnding) USING INDEX SEEK n:FactEnding(group_id, cause, fact_uuid) WHERE n.group_id = $p.space AND n.cause >= '' AND n.fact_uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidFactAlias) USING INDEX SEEK n:BraidFactAlias(group_id, identity) WHERE n.group_id = $p.space AND n.identity >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidFactSource) USING INDEX SEEK n:BraidFactSource(group_id, source, fact_uuid) WHERE n.group_id = $p.space AND n.source >= '' AND n.fact_uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidPastClaim) USING INDEX SEEK n:BraidPastClaim(group_id, document_id, fact_uuid) WHERE n.group_id = $p.space AND n.document_id >= '' AND n.fact_uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidPastEnding) USING INDEX SEEK n:BraidPastEnding(group_id, document_id, fact_uuid, cause)
  WHERE n.group_id = $p.space AND n.document_id >= '' AND n.fact_uuid >= '' AND n.cause >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidSubject) USING INDEX SEEK n:BraidSubject(group_id, name_key, type) WHERE n.group_id = $p.space AND n.name_key >= '' AND n.type >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidSource) USING INDEX SEEK n:BraidSource(group_id, uuid) WHERE n.group_id = $p.space AND n.uuid >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidQuarantined) USING INDEX SEEK n:BraidQuarantined(group_id, quarantine_id, id) WHERE n.group_id = $p.space AND n.quarantine_id >= '' AND n.id >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidQuarantine) USING INDEX SEEK n:BraidQuarantine(group_id, id) WHERE n.group_id = $p.space AND n.id >= ''
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidOntology {group_id: $p.space}) USING INDEX SEEK n:BraidOntology(group_id)
  RETURN n LIMIT $p.limit
  UNION ALL
  MATCH (n:BraidDeletion) USING INDEX SEEK n:BraidDeletion(group_id, id) WHERE n.group_id = $p.space AND n.id >= '' AND n.id <> $p.deletion
  RETURN n LIMIT $p.limit
}
DETACH DELETE n
RETURN count(*) AS records

// name: reset_space
// Gives a space without contents the state of a new one, but never an earlier revision of itself or of its names.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s = {group_id: s.group_id, revision: s.revision, name_revision: s.name_revision, last_write: s.last_write, vectors: 0}
