// name: begin_embedding_change
// Begins the change to another model; until it ends, the space has no model that can be queried.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id) WHERE s.changing IS NULL
SET s.embedding_dimension = CASE WHEN s.next_model = $p.model THEN s.next_dimension END
SET s.changing = $p.model, s.embedding_model = $p.mark
REMOVE s.next_model, s.next_dimension

// name: change_vectors
// Updates the number of the space's facts with vectors, and sets the vectors' model and length if unset.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.vectors = coalesce(s.vectors, 0) + $p.change, s.embedding_model = coalesce(s.embedding_model, $p.model),
    s.embedding_dimension = coalesce(s.embedding_dimension, $p.dimension)

// name: embed_facts
// Sets active vectors of stated facts; returns how many facts had none before.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.fact_embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vector)
RETURN sum(more) AS change

// name: embed_findings
// Sets active vectors of findings; returns how many findings had none before.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row.uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setNodeVectorProperty(e, 'embedding', row.vector)
RETURN sum(more) AS change

// name: embed_names
// Sets active vectors of the names of entities that have one; returns how many had none before.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
WITH e, row, CASE WHEN e.name_embedding IS NULL THEN 1 ELSE 0 END AS more
CALL db.create.setNodeVectorProperty(e, 'name_embedding', row.vector)
RETURN sum(more) AS change

// name: embedding_state
// Returns the space's model, the model that it is changing to, and how many texts have vectors.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN coalesce(s.embedding_model, '') AS model, coalesce(s.changing, '') AS changing,
       coalesce(s.embedding_dimension, 0) AS dimension, coalesce(s.next_model, '') AS next_model, coalesce(s.next_dimension, 0) AS next_dimension,
       coalesce(s.vectors, 0) + coalesce(s.finding_vectors, 0) AS vectors

// name: finish_embedding_change
// Ends the change to another model: the new model becomes the space's own.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id) WHERE s.changing IS NOT NULL
SET s.embedding_model = s.changing
REMOVE s.changing, s.changed_facts, s.changed_findings, s.changed_names

// name: get_embedding_cursor
// Returns the position of the change to another model, and the length of its vectors if known.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
RETURN s['changed_' + $p.kind] AS place, s.embedding_dimension AS dimension

// name: move_facts
// Replaces the active vectors of some of the space's stated facts with the staged ones; facts without a staged vector
// lose theirs.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
WITH e, e.fact_embedding IS NOT NULL AS had, coalesce(e.next_model, '') = $p.model AND size(e.next_embedding) = coalesce($p.dimension, size(e.next_embedding)) AS has
CALL (e, had, has) {
  WITH e, had, has WHERE has
  CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', e.next_embedding)
}
FOREACH (_ IN CASE WHEN had AND NOT has THEN [1] ELSE [] END | REMOVE e.fact_embedding)
WITH e, had, has, CASE WHEN has THEN size(e.next_embedding) END AS dimension
REMOVE e.next_embedding, e.next_model
RETURN sum(CASE WHEN has AND NOT had THEN 1 WHEN had AND NOT has THEN -1 ELSE 0 END) AS change, max(dimension) AS dimension

// name: move_findings
// Replaces the active vectors of some of the space's findings with the staged ones; findings without a staged vector
// lose theirs.
UNWIND $p.uuids AS uuid
MATCH (e:BraidFinding {uuid: uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
WITH e, e.embedding IS NOT NULL AS had, coalesce(e.next_model, '') = $p.model AND size(e.next_embedding) = coalesce($p.dimension, size(e.next_embedding)) AS has
CALL (e, had, has) {
  WITH e, had, has WHERE has
  CALL db.create.setNodeVectorProperty(e, 'embedding', e.next_embedding)
}
FOREACH (_ IN CASE WHEN had AND NOT has THEN [1] ELSE [] END | REMOVE e.embedding)
WITH e, had, has, CASE WHEN has THEN size(e.next_embedding) END AS dimension
REMOVE e.next_embedding, e.next_model
RETURN sum(CASE WHEN has AND NOT had THEN 1 WHEN had AND NOT has THEN -1 ELSE 0 END) AS change, max(dimension) AS dimension

// name: move_names
// Replaces the active name vectors of some of the space's entities with the staged ones; entities without a staged
// vector lose theirs.
UNWIND $p.uuids AS uuid
MATCH (e:Entity {uuid: uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
WITH e, e.name_embedding IS NOT NULL AS had, coalesce(e.next_model, '') = $p.model AND size(e.next_embedding) = coalesce($p.dimension, size(e.next_embedding)) AS has
CALL (e, had, has) {
  WITH e, had, has WHERE has
  CALL db.create.setNodeVectorProperty(e, 'name_embedding', e.next_embedding)
}
FOREACH (_ IN CASE WHEN had AND NOT has THEN [1] ELSE [] END | REMOVE e.name_embedding)
WITH e, had, has, CASE WHEN has THEN size(e.next_embedding) END AS dimension
REMOVE e.next_embedding, e.next_model
RETURN sum(CASE WHEN has AND NOT had THEN 1 WHEN had AND NOT has THEN -1 ELSE 0 END) AS change, max(dimension) AS dimension

// name: page_of_facts
// A page of the space's stated facts that start after a given start, in index order.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from > $p.after_from AND e.uuid >= ''
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN toString(e.valid_from) AS key, e.uuid AS uuid

// name: page_of_facts_of_start
// A page of the space's stated facts with a given start, after a uuid, in index order.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from = $p.after_from AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN toString(e.valid_from) AS key, e.uuid AS uuid

// name: page_of_findings
// A page of the space's findings, after a uuid, in index order.
MATCH (e:BraidFinding) USING INDEX SEEK e:BraidFinding(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN '' AS key, e.uuid AS uuid

// name: page_of_names
// A page of the space's entities, after a uuid, in index order.
MATCH (e:Entity) USING INDEX SEEK e:Entity(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN '' AS key, e.uuid AS uuid

// name: set_embedding_cursor
// Stores the position of the change to another model.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s['changed_' + $p.kind] = $p.place

// name: set_next_vectors
// Stores the model and the length of the staged vectors.
MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
SET s.next_model = $p.model, s.next_dimension = $p.dimension

// name: stage_facts
// Stages vectors of another model next to the active ones: stated facts.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setRelationshipVectorProperty(e, 'next_embedding', row.vector)

// name: stage_findings
// Stages vectors of another model next to the active ones: findings.
UNWIND $p.rows AS row
MATCH (e:BraidFinding {uuid: row.uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)

// name: stage_names
// Stages vectors of another model next to the active ones: names of entities that have a vector.
UNWIND $p.rows AS row
MATCH (e:Entity {uuid: row.uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
SET e.next_model = $p.model
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'next_embedding', row.vector)

// name: texts_of_facts
// Returns the texts of the given stated facts that exist.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.fact AS text

// name: texts_of_findings
// Returns the texts of the given findings that exist.
UNWIND $p.uuids AS uuid
MATCH (e:BraidFinding {uuid: uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.statement AS text

// name: texts_of_names
// Returns the names of the given entities that exist and have a name vector.
UNWIND $p.uuids AS uuid
MATCH (e:Entity {uuid: uuid}) USING INDEX SEEK e:Entity(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.name AS text

// name: unembedded_facts
// A page of the space's stated facts that start after a given start and lack a vector of a model: no active vector if
// it is the space's own model, else no staged one.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from > $p.after_from AND e.uuid >= ''
  AND CASE WHEN $p.live THEN e.fact_embedding IS NULL ELSE coalesce(e.next_model, '') <> $p.model END
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.fact AS text, toString(e.valid_from) AS key

// name: unembedded_facts_of_start
// A page of the space's stated facts with a given start, after a uuid, that lack a vector of a model: no active vector
// if it is the space's own model, else no staged one.
MATCH ()-[e:RELATES_TO]->()
USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from = $p.after_from AND e.uuid > $p.after_uuid
  AND CASE WHEN $p.live THEN e.fact_embedding IS NULL ELSE coalesce(e.next_model, '') <> $p.model END
WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.fact AS text, toString(e.valid_from) AS key

// name: unembedded_findings
// A page of the space's findings that lack a vector of a model: no active vector if it is the space's own model, else
// no staged one.
MATCH (e:BraidFinding) USING INDEX SEEK e:BraidFinding(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
  AND ($p.live AND e.embedding IS NULL OR NOT $p.live AND coalesce(e.next_model, '') <> $p.model)
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.statement AS text, '' AS key

// name: unembedded_names
// A page of the space's entities with a name vector that lack one of a model: no active vector if it is the space's own
// model, else no staged one.
MATCH (e:Entity) USING INDEX SEEK e:Entity(group_id, uuid)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid AND e.name_embedding IS NOT NULL
  AND ($p.live AND e.name_embedding IS NULL OR NOT $p.live AND coalesce(e.next_model, '') <> $p.model)
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, e.name AS text, '' AS key
