// fragment: after_one node first
// Whether a node comes after the place where a page begins, by one property.
{{node}}.{{first}} > $p.after[0]

// fragment: after_two node first second
// The same by two.
{{node}}.{{first}} >= $p.after[0] AND {{node}}.{{second}} >= '' AND ({{node}}.{{first}} > $p.after[0] OR {{node}}.{{second}} > $p.after[1])

// fragment: exported node
// A node as exported.
{labels: labels({{node}}), properties: properties({{node}})} AS exported

// name: export_claims
// A page of the space's claims.
MATCH (n:FactClaim) USING INDEX SEEK n:FactClaim(group_id, claimant, fact_uuid)
WHERE n.group_id = $p.space AND {{after_two n claimant fact_uuid}}
RETURN {{exported n}}, [n.claimant, n.fact_uuid] AS key
ORDER BY n.claimant, n.fact_uuid LIMIT $p.limit

// name: export_documents
// A page of the space's documents.
MATCH (n:Document) USING INDEX SEEK n:Document(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {{exported n}}, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_entities
// A page of the space's entities.
MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {{exported n}}, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_episodes
// A page of the space's episodes.
MATCH (n:Episodic) USING INDEX SEEK n:Episodic(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {labels: labels(n), properties: properties(n), document: head([(d:Document)-[:HAS_EPISODE]->(n) | d.uuid])} AS exported, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_fact_aliases
// A page of the space's fact aliases.
MATCH (n:BraidFactAlias) USING INDEX SEEK n:BraidFactAlias(group_id, identity)
WHERE n.group_id = $p.space AND {{after_one n identity}}
RETURN {{exported n}}, [n.identity] AS key
ORDER BY n.identity LIMIT $p.limit

// name: export_fact_endings
// A page of the space's fact endings.
MATCH (n:FactEnding) USING INDEX SEEK n:FactEnding(group_id, cause, fact_uuid)
WHERE n.group_id = $p.space AND {{after_two n cause fact_uuid}}
RETURN {{exported n}}, [n.cause, n.fact_uuid] AS key
ORDER BY n.cause, n.fact_uuid LIMIT $p.limit

// name: export_fact_sources
// A page of the space's fact sources.
MATCH (n:BraidFactSource) USING INDEX SEEK n:BraidFactSource(group_id, source, fact_uuid)
WHERE n.group_id = $p.space AND {{after_two n source fact_uuid}}
RETURN {{exported n}}, [n.source, n.fact_uuid] AS key
ORDER BY n.source, n.fact_uuid LIMIT $p.limit

// name: export_finding_sources
// A page of the space's finding sources.
MATCH (n:BraidSource) USING INDEX SEEK n:BraidSource(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {{exported n}}, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_finding_subjects
// A page of the space's finding subjects.
MATCH (n:BraidSubject) USING INDEX SEEK n:BraidSubject(group_id, name_key, type)
WHERE n.group_id = $p.space AND {{after_two n name_key type}}
RETURN {{exported n}}, [n.name_key, n.type] AS key
ORDER BY n.name_key, n.type LIMIT $p.limit

// name: export_findings
// A page of the space's findings.
MATCH (n:BraidFinding) USING INDEX SEEK n:BraidFinding(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {{exported n}}, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_names
// A page of the space's names.
MATCH (n:EntityName) USING INDEX SEEK n:EntityName(group_id, name_key, type)
WHERE n.group_id = $p.space AND {{after_two n name_key type}}
RETURN {{exported n}}, [n.name_key, n.type] AS key
ORDER BY n.name_key, n.type LIMIT $p.limit

// name: export_passages
// A page of the space's passages.
MATCH (n:BraidPassage) USING INDEX SEEK n:BraidPassage(group_id, uuid)
WHERE n.group_id = $p.space AND {{after_one n uuid}}
RETURN {{exported n}}, [n.uuid] AS key
ORDER BY n.uuid LIMIT $p.limit

// name: export_past_claims
// A page of the space's past claims.
MATCH (n:BraidPastClaim) USING INDEX SEEK n:BraidPastClaim(group_id, document_id, fact_uuid)
WHERE n.group_id = $p.space AND {{after_two n document_id fact_uuid}}
RETURN {{exported n}}, [n.document_id, n.fact_uuid] AS key
ORDER BY n.document_id, n.fact_uuid LIMIT $p.limit

// name: export_past_endings
// A page of the space's past endings.
MATCH (n:BraidPastEnding) USING INDEX SEEK n:BraidPastEnding(group_id, document_id, fact_uuid, cause)
WHERE n.group_id = $p.space AND n.document_id >= $p.after[0] AND n.fact_uuid >= '' AND n.cause >= ''
  AND (n.document_id > $p.after[0] OR n.fact_uuid > $p.after[1] OR (n.fact_uuid = $p.after[1] AND n.cause > $p.after[2]))
RETURN {{exported n}}, [n.document_id, n.fact_uuid, n.cause] AS key
ORDER BY n.document_id, n.fact_uuid, n.cause LIMIT $p.limit

// name: export_quarantined
// A page of the space's quarantined.
MATCH (n:BraidQuarantined) USING INDEX SEEK n:BraidQuarantined(group_id, quarantine_id, id)
WHERE n.group_id = $p.space AND {{after_two n quarantine_id id}}
RETURN {{exported n}}, [n.quarantine_id, n.id] AS key
ORDER BY n.quarantine_id, n.id LIMIT $p.limit

// name: export_quarantines
// A page of the space's quarantines.
MATCH (n:BraidQuarantine) USING INDEX SEEK n:BraidQuarantine(group_id, id)
WHERE n.group_id = $p.space AND {{after_one n id}}
RETURN {{exported n}}, [n.id] AS key
ORDER BY n.id LIMIT $p.limit


// name: export_co_occurrences
// A page of the space's co-occurrences, each with its sentence.
MATCH (n:Entity)-[r:CO_OCCURS]->(m:Entity) USING INDEX SEEK n:Entity(group_id, uuid)
WHERE n.group_id = $p.space AND n.uuid >= $p.after[0]
  AND (n.uuid > $p.after[0] OR r.sentence_uuid > $p.after[1] OR (r.sentence_uuid = $p.after[1] AND m.uuid > $p.after[2]))
WITH n, r, m ORDER BY n.uuid, r.sentence_uuid, m.uuid LIMIT $p.limit
MATCH (s:BraidSentence {uuid: r.sentence_uuid}) USING INDEX SEEK s:BraidSentence(uuid)
RETURN {source: n.uuid, target: m.uuid, properties: properties(r), sentence: properties(s)} AS exported, [n.uuid, r.sentence_uuid, m.uuid] AS key
ORDER BY n.uuid, r.sentence_uuid, m.uuid

// name: export_fact_versions
// A page of the past versions of the space's facts.
MATCH (n:FactVersion) USING INDEX SEEK n:FactVersion(group_id, valid_from, fact_uuid)
WHERE n.group_id = $p.space AND n.valid_from >= $p.after[0] AND n.fact_uuid >= ''
  AND (n.valid_from > $p.after[0] OR n.fact_uuid > $p.after[1] OR (n.fact_uuid = $p.after[1] AND n.uuid > $p.after[2]))
RETURN {{exported n}}, [n.valid_from, n.fact_uuid, n.uuid] AS key
ORDER BY n.valid_from, n.fact_uuid, n.uuid LIMIT $p.limit

// name: export_facts
// A page of the space's stated facts, each with the claims that name no document or episode.
MATCH (a:Entity)-[e:RELATES_TO]->(b:Entity) USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from >= $p.after[0] AND e.uuid >= '' AND (e.valid_from > $p.after[0] OR e.uuid > $p.after[1])
WITH a, e, b ORDER BY e.valid_from, e.uuid LIMIT $p.limit
RETURN {source: a.uuid, target: b.uuid, properties: properties(e), claims: COLLECT {
    MATCH (c:FactClaim {fact_uuid: e.uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space AND c.claimant IS NULL
    RETURN properties(c) ORDER BY c.document_uuid, c.episode_uuid
  }} AS exported, [e.valid_from, e.uuid] AS key
ORDER BY e.valid_from, e.uuid

// name: export_finding_links
// A page of what the space's findings are about and come from.
MATCH (n:BraidFinding)-[r:ABOUT|FROM]->(m) USING INDEX SEEK n:BraidFinding(group_id, uuid)
WHERE n.group_id = $p.space AND n.uuid >= $p.after[0]
WITH n, r, m, coalesce(m.uuid, m.name_key + ' ' + m.type) AS target
WHERE n.uuid > $p.after[0] OR type(r) > $p.after[1] OR (type(r) = $p.after[1] AND target > $p.after[2])
RETURN {source: n.uuid, type: type(r), label: head(labels(m)), target: CASE WHEN m.uuid IS NULL THEN [m.name_key, m.type] ELSE [m.uuid] END, properties: properties(r)} AS exported,
  [n.uuid, type(r), target] AS key
ORDER BY n.uuid, type(r), target LIMIT $p.limit

// name: export_mentions
// A page of the space's mentions of entities.
MATCH (n:Episodic)-[r:BRAID_MENTIONS|MENTIONS]->(m:Entity) USING INDEX SEEK n:Episodic(group_id, uuid)
WHERE n.group_id = $p.space AND n.uuid >= $p.after[0]
  AND (n.uuid > $p.after[0] OR type(r) > $p.after[1] OR (type(r) = $p.after[1] AND m.uuid > $p.after[2]))
RETURN {type: type(r), source: n.uuid, target: m.uuid, properties: properties(r)} AS exported, [n.uuid, type(r), m.uuid] AS key
ORDER BY n.uuid, type(r), m.uuid LIMIT $p.limit

// name: export_ontologies
// The space's ontology.
MATCH (n:BraidOntology {group_id: $p.space}) USING INDEX SEEK n:BraidOntology(group_id)
RETURN {{exported n}}, [n.group_id] AS key
LIMIT $p.limit

// name: export_relations
// A page of the relations between the space's episodes.
MATCH (n:Episodic)-[r:BRAID_RELATION]->(m:Episodic) USING INDEX SEEK n:Episodic(group_id, uuid)
WHERE n.group_id = $p.space AND n.uuid >= $p.after[0]
  AND (n.uuid > $p.after[0] OR m.uuid > $p.after[1] OR (m.uuid = $p.after[1] AND r.type > $p.after[2]))
RETURN {source: n.uuid, target: m.uuid, properties: properties(r)} AS exported, [n.uuid, m.uuid, r.type] AS key
ORDER BY n.uuid, m.uuid, r.type LIMIT $p.limit

// name: export_space
// The space's own node, without what a write or an import notes on it.
MATCH (n:BraidSpace {group_id: $p.space}) USING INDEX SEEK n:BraidSpace(group_id)
RETURN {properties: n {.*, locked: null, import_id: null, import_number: null}} AS exported, [n.group_id] AS key
LIMIT $p.limit

// name: has_imported
// Whether the space has a page of an import already.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
WHERE s.import_id = $p.id AND s.import_number >= $p.number
RETURN true AS found

// name: import_co_occurrences
// Stores co-occurrences and their sentences.
UNWIND $p.rows AS row
MERGE (s:BraidSentence {uuid: row.sentence.uuid})
ON CREATE SET s = row.sentence, s.group_id = $p.space
WITH row
MATCH (a:Entity {uuid: row.source}) USING INDEX SEEK a:Entity(uuid) WHERE a.group_id = $p.space
MATCH (b:Entity {uuid: row.target}) USING INDEX SEEK b:Entity(uuid) WHERE b.group_id = $p.space
CREATE (a)-[r:CO_OCCURS]->(b)
SET r = row.properties
RETURN count(*) AS stored

// name: import_facts
// Stores stated facts, with the claims that name no document or episode.
UNWIND $p.rows AS row
MATCH (a:Entity {uuid: row.source}) USING INDEX SEEK a:Entity(uuid) WHERE a.group_id = $p.space
MATCH (b:Entity {uuid: row.target}) USING INDEX SEEK b:Entity(uuid) WHERE b.group_id = $p.space
CREATE (a)-[e:RELATES_TO]->(b)
SET e = row.properties, e.group_id = $p.space
FOREACH (claim IN row.claims | CREATE (c:FactClaim) SET c = claim, c.group_id = $p.space)
WITH e, row
CALL (e, row) {
  WITH e, row WHERE row.vectors.fact_embedding IS NOT NULL
  CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vectors.fact_embedding)
}
RETURN count(*) AS stored

// name: import_finding_findings
// Stores what findings say about findings.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.source}) USING INDEX SEEK f:BraidFinding(uuid) WHERE f.group_id = $p.space
MATCH (g:BraidFinding {uuid: row.target[0]}) USING INDEX SEEK g:BraidFinding(uuid) WHERE g.group_id = $p.space
CREATE (f)-[r:ABOUT]->(g)
SET r = row.properties
RETURN count(*) AS stored

// name: import_finding_sources
// Stores which episodes findings come from.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.source}) USING INDEX SEEK f:BraidFinding(uuid) WHERE f.group_id = $p.space
MATCH (s:BraidSource {group_id: $p.space, uuid: row.target[0]}) USING INDEX SEEK s:BraidSource(group_id, uuid)
CREATE (f)-[r:FROM]->(s)
SET r = row.properties
RETURN count(*) AS stored

// name: import_finding_subjects
// Stores which names findings are about.
UNWIND $p.rows AS row
MATCH (f:BraidFinding {uuid: row.source}) USING INDEX SEEK f:BraidFinding(uuid) WHERE f.group_id = $p.space
MATCH (s:BraidSubject {group_id: $p.space, name_key: row.target[0], type: row.target[1]}) USING INDEX SEEK s:BraidSubject(group_id, name_key, type)
CREATE (f)-[r:ABOUT]->(s)
SET r = row.properties
RETURN count(*) AS stored

// name: import_mentions
// Stores mentions of entities.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (n:Entity {uuid: row.target}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
CREATE (e)-[r:$(row.type)]->(n)
SET r = row.properties
RETURN count(*) AS stored

// name: import_nodes
// Stores nodes.
UNWIND $p.rows AS row
CREATE (n:$(row.labels))
SET n = row.properties, n.group_id = $p.space
WITH n, row
UNWIND keys(row.vectors) AS name
CALL db.create.setNodeVectorProperty(n, name, row.vectors[name])

// name: import_ontology
// Stores the space's ontology in place of the one that it has.
UNWIND $p.rows AS row
MERGE (n:BraidOntology {group_id: $p.space})
SET n = row.properties, n.group_id = $p.space

// name: import_relations
// Stores relations between episodes.
UNWIND $p.rows AS row
MATCH (a:Episodic {group_id: $p.space, uuid: row.source}) USING INDEX SEEK a:Episodic(group_id, uuid)
MATCH (b:Episodic {group_id: $p.space, uuid: row.target}) USING INDEX SEEK b:Episodic(group_id, uuid)
CREATE (a)-[r:BRAID_RELATION]->(b)
SET r = row.properties
RETURN count(*) AS stored

// name: import_space
// Gives the space's node what it was exported with; its revisions and the time of its last write never go back.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
WITH s, s.revision AS revision, s.name_revision AS names, s.last_write AS written, $p.row.properties AS given, s.import_id AS id, s.import_number AS number
SET s = given, s.group_id = $p.space, s.import_id = id, s.import_number = number,
  s.revision = CASE WHEN revision > given.revision THEN revision ELSE given.revision END,
  s.name_revision = CASE WHEN names > given.name_revision THEN names ELSE given.name_revision END,
  s.last_write = CASE WHEN written > given.last_write THEN written ELSE given.last_write END

// name: link_imported_episodes
// Joins episodes to their documents.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row.properties.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (d:Document {uuid: row.document}) USING INDEX SEEK d:Document(uuid) WHERE d.group_id = $p.space
CREATE (d)-[:HAS_EPISODE]->(e)
RETURN count(*) AS stored

// name: note_import
// Records that the space has a page of an import.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.import_id = $p.id, s.import_number = $p.number
