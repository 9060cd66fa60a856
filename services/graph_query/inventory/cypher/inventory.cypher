// name: end_document
// Sets a further end of a document; returns it unless it has ended then already, or does not exist.
MATCH (d:Document {uuid: $p.uuid}) USING INDEX SEEK d:Document(uuid)
WHERE d.group_id = $p.space AND NOT $p.end IN coalesce(d.ends, [])
SET d.ends = coalesce(d.ends, []) + $p.end
RETURN d.uuid AS uuid

// name: entities_of_space
// Returns which of the given entities belong to the space.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
RETURN uuid

// name: episodes_of_document
// Some of a document's episodes.
MATCH (d:Document {uuid: $p.document, group_id: $p.space})-[:HAS_EPISODE]->(e:Episodic) USING INDEX SEEK d:Document(uuid)
RETURN e.uuid AS uuid LIMIT $p.limit

// name: fact_sources
// A page of the space's stated facts that start after a given start, with the documents that state each.
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from > $p.after_from AND e.uuid >= ''
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
WITH e.valid_from AS valid_from, e.uuid AS uuid
RETURN valid_from, uuid, COLLECT {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space
  OPTIONAL MATCH (p:BraidPassage {group_id: $p.space, uuid: c.episode_uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
  WITH CASE WHEN c.episode_uuid IS NULL THEN c.document_id ELSE p.document_id END AS document_id WHERE document_id IS NOT NULL
  RETURN DISTINCT document_id } AS documents
ORDER BY valid_from, uuid

// name: fact_sources_of_start
// A page of the space's stated facts of a given start, after a uuid, with the documents that state each.
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from = $p.after_from AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
WITH e.valid_from AS valid_from, e.uuid AS uuid
RETURN valid_from, uuid, COLLECT {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space
  OPTIONAL MATCH (p:BraidPassage {group_id: $p.space, uuid: c.episode_uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
  WITH CASE WHEN c.episode_uuid IS NULL THEN c.document_id ELSE p.document_id END AS document_id WHERE document_id IS NOT NULL
  RETURN DISTINCT document_id } AS documents
ORDER BY valid_from, uuid

// name: find_episodes
// Returns which of the given episodes exist.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN uuid ORDER BY uuid

// name: findings_without_episode
// Returns the findings of a page, by uuid, that come from an episode which does not exist.
CALL () {
  MATCH (f:BraidFinding) USING INDEX SEEK f:BraidFinding(group_id, uuid) WHERE f.group_id = $p.space AND f.uuid > $p.after
  WITH f ORDER BY f.group_id, f.uuid LIMIT $p.limit
  RETURN f.uuid AS uuid, EXISTS { MATCH (f)-[:FROM]->(s:BraidSource) WITH s.uuid AS source
    WHERE NOT EXISTS { MATCH (e:Episodic {group_id: $p.space, uuid: source}) USING INDEX SEEK e:Episodic(group_id, uuid) } } AS lost
}
WITH collect([uuid, lost]) AS page
RETURN size(page) AS seen, page[-1][0] AS last, [one IN page WHERE one[1] | one[0]] AS without

// name: get_deletion
// Returns what a deletion has removed so far, and whether it has ended.
MATCH (d:BraidDeletion {group_id: $p.space, id: $p.id}) USING INDEX SEEK d:BraidDeletion(group_id, id)
RETURN d.ended AS ended, properties(d) AS counts

// name: graph_state
// The space's revision, and its ontology with the keys of its events.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
RETURN coalesce(s.revision, 0) AS revision, coalesce(o.version, 0) AS version, o.text AS text, o.events AS events

// name: list_documents
// A page of the graph's documents, by their nodes' uuids.
MATCH (d:Document) USING INDEX SEEK d:Document(group_id, uuid) WHERE d.group_id = $p.space AND d.uuid > $p.after
WITH d ORDER BY d.group_id, d.uuid LIMIT $p.limit
RETURN d.document_id AS document_id

// name: list_episodes
// A page of the space's episodes by uuid, with the document of each.
MATCH (e:Episodic) USING INDEX SEEK e:Episodic(group_id, uuid) WHERE e.group_id = $p.space AND e.uuid > $p.after
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(e)
RETURN e.uuid AS uuid, coalesce(head(collect(d.document_id)), '') AS document_id ORDER BY uuid

// name: list_spaces
// The first spaces with a graph after one, by id. Not limited to one space: for operators.
MATCH (s:BraidSpace) USING INDEX SEEK s:BraidSpace(group_id) WHERE s.group_id > $p.after AND (
  EXISTS { MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = s.group_id AND n.name >= '' AND n.uuid >= '' }
  OR EXISTS { MATCH (e:BraidPassage) USING INDEX SEEK e:BraidPassage(group_id, uuid) WHERE e.group_id = s.group_id AND e.uuid >= '' }
  OR EXISTS { MATCH (f:BraidFinding) USING INDEX SEEK f:BraidFinding(group_id, uuid) WHERE f.group_id = s.group_id AND f.uuid > '' }
)
RETURN s.group_id AS space ORDER BY space LIMIT $p.limit

// name: record_deletion
// Records what a deletion has removed so far, and deletes the space's old records of deletions.
MERGE (d:BraidDeletion {group_id: $p.space, id: $p.id})
SET d += $p.counts, d.ended = $p.ended, d.kept_at = $p.now
WITH d
MATCH (old:BraidDeletion) USING INDEX SEEK old:BraidDeletion(group_id, id) WHERE old.group_id = $p.space AND old.id >= '' AND old.kept_at < $p.before
DELETE old

// name: unjoined_entities
// Returns the entities without connections from a page of the space's entities, by name and uuid, after a position.
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid)
  WHERE n.group_id = $p.space AND n.name >= $p.after_name AND n.uuid >= '' AND (n.name > $p.after_name OR n.uuid > $p.after_uuid)
  WITH n ORDER BY n.group_id, n.name, n.uuid LIMIT $p.limit
  RETURN [n.name, n.uuid] AS place, NOT EXISTS { (n)--() } AS alone
}
WITH collect([place, alone]) AS page
RETURN size(page) AS seen, page[-1][0] AS last, [one IN page WHERE one[1] | [one[0][1], one[0][0]]] AS unjoined
