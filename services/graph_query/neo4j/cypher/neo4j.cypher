// name: cite_facts
// Sets the citations of these facts and of every fact that these documents claim: the claiming episodes, and for each
// claiming document its episodes that name both ends of the fact, or else its best episode.
CALL () {
  UNWIND $p.documents AS document_id
  MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
  RETURN c.fact_uuid AS uuid
  UNION
  UNWIND $p.facts AS uuid
  RETURN uuid
}
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
CALL (a, b, uuid) {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
  MATCH (d:Document {uuid: c.document_uuid})-[:HAS_EPISODE]->(p:Episodic) USING INDEX SEEK d:Document(uuid)
  WITH a, b, d, p, COUNT { (p)-[:BRAID_MENTIONS]->(n) WHERE n = a OR n = b } AS named ORDER BY named DESC, p.uuid
  WITH a, b, d, collect({uuid: p.uuid, named: named}) AS found
  WITH [f IN found WHERE f.named = CASE WHEN a = b THEN 1 ELSE 2 END | f.uuid] AS both, found[0].uuid AS best
  UNWIND CASE WHEN size(both) > 0 THEN both ELSE [best] END AS cited
  RETURN collect(DISTINCT cited) AS documented
}
CALL (uuid, documented) {
  MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.episode_uuid IS NOT NULL
  RETURN collect(c.episode_uuid) AS claiming
}
CALL (documented, claiming) {
  UNWIND documented + claiming AS cited
  WITH DISTINCT cited ORDER BY cited
  RETURN collect(cited) AS cited
}
SET e.episodes = cited

// name: count_mentions
// Recounts mentions of entities, for the order of listings; `title`: whether an entity is mentioned only by documents
// that it is the title of.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
MATCH (k:EntityName {entity_uuid: uuid}) USING INDEX SEEK k:EntityName(entity_uuid)
WITH k, -COUNT { (n)<-[:BRAID_MENTIONS]-() } AS rank,
  NOT EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind <> $p.about } AS untold
WITH k, rank, untold AND rank < 0 AS title WHERE coalesce(k.mention_rank, 1) <> rank OR coalesce(k.title, NOT title) <> title
SET k.mention_rank = rank, k.title = title

// name: create_entities
// Creates entities with their names.
UNWIND $p.rows AS row
CREATE (n:Entity {uuid: row[0], group_id: $p.space, name: row[2], name_source: row[6], summary: '', created_at: $p.now})
CREATE (:EntityName {group_id: $p.space, name_key: row[1], type: row[4], link_key: row[3], entity_uuid: row[0], linked: row[5],
                    mention_rank: 0, title: false})
WITH n, row WHERE row[4] <> ''
SET n:$(row[4])

// name: create_mentions
// Creates episodes' mentions of entities: kind, spelling, and sentences, counted from 0.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
UNWIND row[1] AS mention
MATCH (n:Entity {uuid: mention[0]}) USING INDEX SEEK n:Entity(uuid)
CREATE (e)-[:BRAID_MENTIONS {kind: mention[1], sentences: mention[2], name: mention[3]}]->(n)

// name: create_passages
// Creates episodes, with Braid's own properties in addition to Graphiti's.
UNWIND $p.rows AS row
MATCH (d:Document {uuid: row.document}) USING INDEX SEEK d:Document(uuid)
CREATE (e:Episodic {uuid: row.uuid, group_id: $p.space, name: row.title, source: 'text', source_description: row.source,
                    content: row.content, entity_edges: [], created_at: $p.now, valid_at: coalesce(row.reference_time, $p.now)})
CREATE (:BraidPassage {uuid: row.uuid, group_id: $p.space, document_id: row.document_id, title: row.title, words: row.words,
                       starts: row.starts, own_start: row.own_start, valid_from: row.period[0], valid_until: row.period[1], gaps: row.period[2]})
CREATE (d)-[:HAS_EPISODE]->(e)

// name: create_sentences
// Creates sentences and their co-occurrences.
UNWIND $p.rows AS row
CREATE (:BraidSentence {uuid: row[0], group_id: $p.space, episode_uuid: row[1], ordinal: row[2], text: row[3],
                        subject_uuid: row[4], target_uuids: row[5], valid_from: row[6], valid_until: row[7], gaps: row[8],
                        braid_words: row[9]})
WITH row
MATCH (a:Entity {uuid: row[4]}) USING INDEX SEEK a:Entity(uuid)
UNWIND row[5] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
CREATE (a)-[:CO_OCCURS {sentence_uuid: row[0], valid_from: row[6], valid_until: row[7], gaps: row[8]}]->(b)

// name: create_space
// Creates the space's node before its first write, in a transaction of its own.
MERGE (s:BraidSpace {group_id: $p.space})
ON CREATE SET s.revision = 0, s.name_revision = 0, s.vectors = 0

// name: delete_mentions
// Deletes mentions.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (n:Entity {uuid: row[1]}) USING INDEX SEEK n:Entity(uuid)
CALL (e, n) {
  MATCH (e)-[m:BRAID_MENTIONS]->(n)
  DELETE m
}

// name: delete_orphans
// Deletes the given entities that no mention and no fact refers to any more.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE NOT EXISTS { (n)--() }
OPTIONAL MATCH (k:EntityName {entity_uuid: uuid}) USING INDEX SEEK k:EntityName(entity_uuid)
DELETE k
WITH DISTINCT n
DELETE n
RETURN count(*) AS deleted

// name: delete_sentences
// Deletes sentences and their co-occurrences.
UNWIND $p.rows AS row
MATCH (s:BraidSentence {uuid: row[0]}) USING INDEX SEEK s:BraidSentence(uuid)
DELETE s
WITH row
MATCH (a:Entity {uuid: row[1]}) USING INDEX SEEK a:Entity(uuid)
UNWIND row[2] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
MATCH (a)-[r:CO_OCCURS]->(b) WHERE r.sentence_uuid = row[0]
DELETE r

// name: documents_of_episodes
// Returns the documents that claim facts, among the given ones and those of the given episodes.
CALL () {
  UNWIND $p.uuids AS uuid
  MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
  RETURN p.document_id AS document_id
  UNION
  UNWIND $p.documents AS document_id
  RETURN document_id
}
WITH document_id
WHERE EXISTS { MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= '' }
RETURN document_id

// name: episodes_of_space
// Returns the given episodes that belong to the space.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN uuid

// name: gazetteer_names
// All names of the space that text is linked to, with their entities, by type.
MATCH (n:EntityName {group_id: $p.space}) USING INDEX SEEK n:EntityName(group_id, name_key, type) WHERE n.name_key >= '' AND n.type >= '' AND n.linked
WITH n ORDER BY n.name_key, n.type
RETURN n.name_key AS key, collect(n.entity_uuid) AS uuids

// name: index_states
// State of each of Braid's indexes.
CYPHER 25
SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'braid_'
RETURN name, state

// name: known_entities
// Returns the given entities that do not exist yet, and those whose given spelling may be better than the
// stored one.
UNWIND $p.rows AS row
OPTIONAL MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
WITH row, n, coalesce(n.name_source, 3) AS source
WHERE n IS NULL OR row[1] < source OR row[1] = source AND row[2] <> n.name
RETURN collect([row[0], n.name, source]) AS entities

// name: link_names
// Links questions, and text where requested, to names.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[0]}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
SET k.linked = row[2], k.link_key = row[1]

// name: lock_space
// Takes the space's write lock; returns its state, and whether it has any text, corrected facts and sources of facts.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.locked = true
RETURN s.revision AS revision, s.name_revision AS name_revision, s.embedding_model AS model, s.embedding_dimension AS dimension, s.changing AS changing, s.last_write AS last_write, coalesce(s.source_revision, s.revision) AS source_revision,
  EXISTS { MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= '' } AS texts,
  EXISTS { MATCH (x:BraidFactAlias) USING INDEX SEEK x:BraidFactAlias(group_id, identity) WHERE x.group_id = $p.space AND x.identity >= '' } AS aliases,
  EXISTS { MATCH (f:BraidFactSource) USING INDEX SEEK f:BraidFactSource(group_id, source, fact_uuid) WHERE f.group_id = $p.space AND f.source >= '' AND f.fact_uuid >= '' } AS sources

// name: passages_about
// Passages whose titles name any of the given entities.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})<-[m:BRAID_MENTIONS]-(e:Episodic) USING INDEX SEEK n:Entity(uuid) WHERE m.kind = $p.about
WITH DISTINCT e
MATCH (p:BraidPassage {group_id: $p.space, uuid: e.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN p.uuid AS uuid, p.document_id AS document_id, p.title AS title, e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps

// name: passages_by_uuid
// Passages of the space by uuid, with all data that extraction needs.
UNWIND $p.uuids AS uuid
MATCH (e:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (p:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
RETURN uuid, coalesce(p.read, false) AS read, p.document_id AS document_id, p.title AS title,
       e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps

// name: passages_with_words
// Passages of the space that contain any of the given word sequences.
CALL db.index.fulltext.queryNodes('braid_passage_words', $p.lucene) YIELD node AS p
WHERE p.group_id = $p.space
MATCH (e:Episodic {group_id: $p.space, uuid: p.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN p.uuid AS uuid, p.document_id AS document_id, p.title AS title, e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps

// name: raise_revision
// Raises the revision of a changed space and, if `names` is 1, of its names; returns both.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.revision = s.revision + 1, s.last_write = $p.now, s.name_revision = s.name_revision + $p.names
RETURN s.revision AS revision, s.name_revision AS name_revision

// name: rename_entities
// Sets another spelling of entities' names.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
SET n.name_source = row[1], n.name = row[2]

// name: schema_version
// The version of the schema that the database was made with: no row before the baseline.
MATCH (s:BraidSchema {name: 'graph'})
RETURN s.version AS version

// name: spellings
// Returns all spellings of the given entities whose displayed spelling has no source any more; with `all`, of
// every one.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WHERE $p.all OR NOT (
  EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.name = n.name AND CASE m.kind WHEN $p.about THEN 0 ELSE 2 END = n.name_source }
  OR n.name_source = 1 AND (
    EXISTS { (n)<-[m:MENTIONS]-() WHERE m.name = n.name }
    OR EXISTS { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[1] = n.name) }
    OR EXISTS { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[3] = n.name) }))
RETURN uuid,
  COLLECT { MATCH (n)<-[m:BRAID_MENTIONS]-() RETURN DISTINCT [CASE m.kind WHEN $p.about THEN 0 ELSE 2 END, m.name] } AS written,
  COLLECT { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) UNWIND c.given AS g RETURN DISTINCT split(g, '\t')[1] }
    + COLLECT { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) UNWIND c.given AS g RETURN DISTINCT split(g, '\t')[3] }
    + COLLECT { MATCH (n)<-[m:MENTIONS]-() RETURN DISTINCT m.name } AS stated

// name: unlink_names
// Unmarks and returns those of these entities' names that no title and no fact states any more.
UNWIND $p.uuids AS uuid
MATCH (k:EntityName {entity_uuid: uuid, group_id: $p.space}) USING INDEX SEEK k:EntityName(entity_uuid) WHERE k.linked
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WHERE NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (n)<-[:MENTIONS]-() }
  AND NOT EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind = $p.about }
SET k.linked = false
RETURN k.name_key AS key, uuid
