// name: claims_at
// Returns the claims of the given entities' facts, with the current ends and the interval of each fact as first
// given.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
WITH DISTINCT e
MATCH (c:FactClaim {fact_uuid: e.uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
RETURN e.uuid AS uuid, startNode(e).uuid AS source, endNode(e).uuid AS target, e.name AS relation,
       coalesce(e.given_from, e.valid_from) AS valid_from, coalesce(e.given_until, e.stated_until, e.valid_until) AS valid_until,
       e.origin AS origin, coalesce(e.given_fact, e.fact) AS fact, e.given_from IS NOT NULL AS corrected,
       [e.valid_from, coalesce(e.stated_until, e.valid_until), e.fact] AS state, c.document_id AS document_id, c.given AS given, e.fact_embedding IS NOT NULL AS embedded

// name: copy_endings
// Copies the endings of facts to their copies.
UNWIND $p.rows AS row
MATCH (x:FactEnding {fact_uuid: row.from}) USING INDEX SEEK x:FactEnding(fact_uuid)
MERGE (y:FactEnding {group_id: $p.space, cause: x.cause, fact_uuid: row.uuid})
ON CREATE SET y.at = x.at

// name: copy_facts
// Copies facts to other entities, under new uuids.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.from}]->() USING INDEX SEEK e:RELATES_TO(uuid)
MATCH (a:Entity {uuid: row.source}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: row.target}) USING INDEX SEEK b:Entity(uuid)
CREATE (a)-[f:RELATES_TO]->(b)
SET f = e {.*, uuid: row.uuid, source_node_uuid: row.source, target_node_uuid: row.target, braid_known_from: $p.known, braid_cause: head(e.episodes),
  braid_ends: replace(left(row.source, 18), '-', '') + ' ' + replace(left(row.target, 18), '-', '') + substring(e.braid_ends, 33)}

// name: create_claims
// Records which document or episode stated a fact, and with which ends. A fact stated by many documents has as many
// claims, so claims with a claimant are looked up by claimant.
UNWIND $p.rows AS row
CALL (row) {
  WITH row WHERE row.document_id <> ''
  MERGE (c:FactClaim {group_id: $p.space, claimant: row.document_id, fact_uuid: row.uuid})
  ON CREATE SET c.document_id = row.document_id
  RETURN c
UNION ALL
  WITH row WHERE row.document_id = ''
  MERGE (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space})
  RETURN c
}
SET c.document_uuid = row.document_uuid, c.episode_uuid = row.episode_uuid, c.given = coalesce(c.given, []) + [g IN row.given WHERE NOT g IN coalesce(c.given, [])]

// name: cut_claims
// Removes stated ends from claims, and deletes claims that have none left. Claims with a claimant are looked up by
// claimant.
UNWIND $p.rows AS row
CALL (row) {
  WITH row WHERE row.document_id <> ''
  MATCH (c:FactClaim {group_id: $p.space, claimant: row.document_id, fact_uuid: row.uuid})
  USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid)
  RETURN c
UNION ALL
  WITH row WHERE row.document_id = ''
  MATCH (c:FactClaim {fact_uuid: row.uuid, document_id: row.document_id, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
  RETURN c
}
SET c.given = [g IN c.given WHERE NOT g IN row.given]
WITH c WHERE size(c.given) = 0
DELETE c

// name: delete_names
// Deletes the names of entities that are about to be removed.
UNWIND $p.uuids AS uuid
MATCH (k:EntityName {entity_uuid: uuid, group_id: $p.space}) USING INDEX SEEK k:EntityName(entity_uuid)
DELETE k

// name: descriptions_at
// Returns which episodes describe the given entities, and under which name and type.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid, group_id: $p.space})<-[m:MENTIONS]-(e:Episodic) USING INDEX SEEK n:Entity(uuid)
RETURN uuid, e.uuid AS episode, m.name AS name, m.type AS type

// name: facts_by_uuid
// Returns which of the given facts exist, whether they have a vector, and their claims.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
RETURN uuid, e.fact_embedding IS NOT NULL AS embedded,
       COLLECT { MATCH (c:FactClaim {fact_uuid: uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid) RETURN [c.document_id, c.given] } AS claims

// name: move_descriptions
// Moves episodes' descriptions from entities to other entities.
UNWIND $p.rows AS row
MATCH (e:Episodic {group_id: $p.space, uuid: row[0]}) USING INDEX SEEK e:Episodic(group_id, uuid)
MATCH (a:Entity {uuid: row[1]}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: row[2]}) USING INDEX SEEK b:Entity(uuid)
CALL (e, a) {
  MATCH (e)-[m:MENTIONS]->(a)
  RETURN m
}
MERGE (e)-[k:MENTIONS]->(b)
SET k = properties(m)
DELETE m

// name: names_by_key
// Returns the types of the given names, whether questions are linked to them, and the display names of their entities
// that differ from the name given here (a stated fact's spelling has source 1). All in one row, as rows cost the driver
// time.
UNWIND $p.names AS told
MATCH (k:EntityName {group_id: $p.space, name_key: told[0]}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN collect([told[0], k.type, k.link_key IS NOT NULL,
  CASE WHEN n.name = told[1] AND n.name_source = 1 THEN null ELSE [n.uuid, n.name_source, n.name] END]) AS names

// name: remove_facts
// Deletes facts, with what else identifies them and the records of their sources. The last version of each, saved in
// this same write, is marked so that searches of the past find it.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
DELETE e
WITH uuid
CALL (uuid) {
  MATCH (x:BraidFactAlias {fact_uuid: uuid}) USING INDEX SEEK x:BraidFactAlias(fact_uuid) WHERE x.group_id = $p.space
  DELETE x
}
CALL (uuid) {
  MATCH (s:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
  DELETE s
}
MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.known_until = $p.now
SET v:BraidPastFact

// name: retype_entities
// Changes or removes the type of entities; former types are kept with their end, for queries about the past.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[1], type: row[2]}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
SET k.type = row[3]
WITH row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
SET n.braid_types = coalesce(n.braid_types, []) + [row[2]], n.braid_types_until = coalesce(n.braid_types_until, []) + [$p.known]
FOREACH (old IN CASE row[2] WHEN '' THEN [] ELSE [row[2]] END | REMOVE n:$(old))
FOREACH (new IN CASE row[3] WHEN '' THEN [] ELSE [row[3]] END | SET n:$(new))

// name: unclaimed_facts
// Returns the given facts that have no claim left, and whether they have a vector.
UNWIND $p.uuids AS uuid
WITH uuid WHERE NOT EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) }
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
RETURN uuid, e.fact_embedding IS NOT NULL AS embedded
