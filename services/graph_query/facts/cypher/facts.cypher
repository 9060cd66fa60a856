// name: cause_versions
// Sets the episode that first stated new facts, once their citations exist.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
WHERE e.braid_known_from = $p.known AND e.braid_cause IS NULL AND size(e.episodes) > 0
SET e.braid_cause = head(e.episodes)

// name: create_facts
// Creates facts in the order of their uuids, each with its claims. The edge itself is the current version, known since
// `braid_known_from`; version nodes hold past versions only. A row is: uuid, subject, object, relation, its key and its
// full-text term, text, origin, the interval as instants (as seconds and nanoseconds: whole instants are slow to send)
// and as numbers, attributes, claims, added words. A claim is: document id, document uuid, episode, ends. `braid_ends`
// holds the words that searches filter by: half of each end's uuid, and the relation's term.
UNWIND $p.rows AS row
MATCH (a:Entity {uuid: row[1]}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: row[2]}) USING INDEX SEEK b:Entity(uuid)
CREATE (a)-[e:RELATES_TO]->(b)
SET e = row[12]
SET e += {uuid: row[0], group_id: $p.space, name: row[3], relation_key: row[4], fact: row[6], episodes: [], created_at: $p.now,
          valid_at: CASE WHEN row[8] IS NULL THEN null ELSE datetime({epochSeconds: row[8][0], nanosecond: row[8][1]}) END,
          invalid_at: CASE WHEN row[9] IS NULL THEN null ELSE datetime({epochSeconds: row[9][0], nanosecond: row[9][1]}) END,
          valid_from: row[10], valid_until: row[11], origin: row[7], source_node_uuid: row[1], target_node_uuid: row[2],
          attribute_names: keys(row[12]), braid_known_from: $p.known, braid_cause: $p.cause, braid_words: row[14],
          braid_ends: replace(left(row[1], 18), '-', '') + ' ' + replace(left(row[2], 18), '-', '') + ' ' + row[5]}
FOREACH (claim IN row[13] |
  CREATE (:FactClaim {group_id: $p.space, fact_uuid: row[0], document_id: claim[0], document_uuid: claim[1], episode_uuid: claim[2], given: claim[3], claimant: nullIf(claim[0], '')}))

// name: delete_claims
// Deletes the claims of the given documents; returns their facts and the ends as stated.
UNWIND $p.documents AS document_id
MATCH (c:FactClaim {group_id: $p.space, claimant: document_id}) USING INDEX SEEK c:FactClaim(group_id, claimant, fact_uuid) WHERE c.fact_uuid >= ''
WITH c, document_id, c.fact_uuid AS uuid, c.given AS given
DELETE c
WITH document_id, uuid, given
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid)
RETURN document_id, uuid, a.uuid AS source, b.uuid AS target, given

// name: move_fact_aliases
// Lets what identified a fact identify another one.
MATCH (x:BraidFactAlias {fact_uuid: $p.uuid}) USING INDEX SEEK x:BraidFactAlias(fact_uuid) WHERE x.group_id = $p.space
SET x.fact_uuid = $p.to

// name: set_fact_vectors
// Sets facts' vectors.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', row.vector)

// name: types_without_claims
// Returns the given types of entities that no claim and no episode states any more.
UNWIND $p.rows AS row
MATCH (n:Entity {uuid: row[0]}) USING INDEX SEEK n:Entity(uuid)
WHERE NOT EXISTS { MATCH (n)-[e:RELATES_TO]->() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[0] = row[2]) }
  AND NOT EXISTS { MATCH (n)<-[e:RELATES_TO]-() WITH e.uuid AS told MATCH (c:FactClaim {fact_uuid: told}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE any(g IN c.given WHERE split(g, '\t')[2] = row[2]) }
  AND NOT EXISTS { (n)<-[m:MENTIONS]-() WHERE m.type = row[2] }
RETURN row[1] AS key, row[2] AS type
