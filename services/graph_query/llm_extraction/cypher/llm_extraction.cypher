// name: count_entities
// Counts the space's entities, up to a limit.
MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
WITH n LIMIT $p.limit
RETURN count(n) AS entities

// name: episodes_before
// The latest episodes of a document, the latest first.
MATCH (d:Document {uuid: $p.document, group_id: $p.space})-[:HAS_EPISODE]->(e:Episodic) USING INDEX SEEK d:Document(uuid)
WITH e ORDER BY e.created_at DESC, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.name AS name, e.content AS content, e.source_description AS source, e.created_at AS created_at, e.valid_at AS valid_at

// name: known_by_comparison
// Entities by their names' similarity, comparing all of the space.
MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid)
WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= '' AND size(n.name_embedding) = size($p.vector)
WITH n, vector.similarity.cosine(n.name_embedding, $p.vector) AS score WHERE score > $p.least
ORDER BY score DESC, n.uuid LIMIT $p.limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes

// name: known_by_index
// Entities by their names' similarity, by the approximate index, whose filter covers the space.
CYPHER 25
MATCH (n:Entity)
SEARCH n IN (VECTOR INDEX braid_entity_meaning FOR $p.vector WHERE n.group_id = $p.space LIMIT $p.limit) SCORE AS score
WITH n, score WHERE score > $p.least
ORDER BY score DESC, n.uuid
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes

// name: known_by_link
// Entities with the given linking keys, as Graphiti needs them, most mentioned first.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
WITH DISTINCT k.entity_uuid AS uuid
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
WITH n ORDER BY COUNT { (n)<-[:BRAID_MENTIONS]-() } DESC, n.uuid LIMIT $p.limit
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes

// name: known_by_name
// Entities with the given names, as Graphiti needs them.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, name_key: key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes

// name: known_by_uuid
// Returns the given entities that are in the space, as Graphiti needs them.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid, group_id: $p.space}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, n.created_at AS created_at,
       [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes

// name: known_episodes
// Episodes by their words.
CALL db.index.fulltext.queryNodes('braid_passage_words', $p.lucene, {limit: 1000}) YIELD node AS found, score
WHERE found.group_id = $p.space
WITH found, score ORDER BY score DESC, found.uuid LIMIT $p.limit
MATCH (e:Episodic {group_id: $p.space, uuid: found.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN e.uuid AS uuid, e.name AS name, e.content AS content, e.source_description AS source, e.created_at AS created_at, e.valid_at AS valid_at

// name: known_facts
// The given facts in their order, as Graphiti needs them.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN e.uuid AS uuid, a.uuid AS source, b.uuid AS target, e.name AS relation, e.fact AS fact, e.episodes AS episodes,
       e.created_at AS created_at, e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.expired_at AS expired_at,
       [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes,
       a.name AS source_name, labels(a) AS source_labels, b.name AS target_name, labels(b) AS target_labels

// name: known_facts_between
// Facts between the given entities, the most similar to a vector first, as Graphiti needs them.
UNWIND $p.sources AS source
MATCH (a:Entity {uuid: source})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid) WHERE e.group_id = $p.space AND b.uuid IN $p.targets
WITH a, e, b, CASE WHEN size(e.fact_embedding) = size($p.vector) THEN vector.similarity.cosine(e.fact_embedding, $p.vector) ELSE 0 END AS score
ORDER BY score DESC, e.created_at DESC, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, a.uuid AS source, b.uuid AS target, e.name AS relation, e.fact AS fact, e.episodes AS episodes,
       e.created_at AS created_at, e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.expired_at AS expired_at,
       [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes,
       a.name AS source_name, labels(a) AS source_labels, b.name AS target_name, labels(b) AS target_labels
