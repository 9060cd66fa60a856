// name: correct_fact
// Corrects a fact in place. The values as first given stay with it: they identify it when it is stated again.
MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
SET e.given_from = coalesce(e.given_from, e.valid_from), e.given_until = coalesce(e.given_until, e.stated_until, e.valid_until),
    e.given_fact = coalesce(e.given_fact, e.fact)
FOREACH (name IN coalesce(e.attribute_names, []) | SET e[name] = null)
SET e += $p.attributes
SET e.attribute_names = $p.attribute_names, e.fact = $p.fact, e.braid_words = $p.words, e.valid_at = $p.valid_at, e.valid_from = $p.valid_from,
    e.braid_known_from = $p.known, e.braid_cause = coalesce($p.episode, head(e.episodes))
FOREACH (_ IN CASE WHEN $p.ends THEN [1] ELSE [] END |
  SET e.invalid_at = $p.invalid_at, e.valid_until = $p.valid_until, e.stated_at = null, e.stated_until = null, e.expired_at = null, e.braid_ended_by = null)
FOREACH (_ IN CASE WHEN $p.embeds THEN [1] ELSE [] END | REMOVE e.fact_embedding, e.next_embedding, e.next_model)

// name: delete_claims_of_facts
// Deletes all claims of facts; returns the facts, their ends, and the ends as stated.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
MATCH (c:FactClaim {fact_uuid: uuid, group_id: $p.space}) USING INDEX SEEK c:FactClaim(fact_uuid)
WITH c, uuid, a.uuid AS source, b.uuid AS target, c.document_id AS document_id, c.given AS given
DELETE c
RETURN document_id, uuid, source, target, given

// name: fact_standings
// Returns whether facts stand, and whether the last state of those that do not was withdrawn or corrected.
UNWIND $p.uuids AS uuid
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, e IS NOT NULL AS stands,
  head(COLLECT { MATCH (v:FactVersion {fact_uuid: uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
    RETURN v.change_kind IS NOT NULL ORDER BY v.known_until DESC LIMIT 1 }) AS withdrawn

// name: fact_to_correct
// Returns a standing fact with its stated end and its claims.
MATCH (a)-[e:RELATES_TO {uuid: $p.uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN a.uuid AS source, a.name AS source_name, labels(a) AS source_labels, b.uuid AS target, b.name AS target_name, labels(b) AS target_labels,
  e.name AS relation, e.fact AS fact, e.valid_at AS valid_at, e.invalid_at AS invalid_at, coalesce(e.origin, 'extracted') AS origin,
  coalesce(e.stated_until, e.valid_until) AS stated_until, CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS stated_at,
  e.fact_embedding IS NOT NULL AS embedded, [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes

// name: mark_corrections
// Links facts that this write created to the facts that they correct.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from = $p.known
SET e.braid_corrects = row.corrects

// name: missing_from_source
// Standing facts that a source stated only before a revision, by uuid: their number and the first of them. Also returns
// the space's revision.
OPTIONAL MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
WITH coalesce(b.revision, 0) AS revision
OPTIONAL MATCH (s:BraidFactSource {group_id: $p.space, source: $p.source}) USING INDEX SEEK s:BraidFactSource(group_id, source, fact_uuid)
WHERE s.fact_uuid >= '' AND ($p.first = 0 OR s.revision < $p.first)
  AND EXISTS { MATCH ()-[e:RELATES_TO {uuid: s.fact_uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space }
WITH revision, s.fact_uuid AS uuid ORDER BY uuid
WITH revision, collect(uuid) AS uuids
RETURN revision, size(uuids) AS total, uuids[..$p.limit] AS uuids

// name: note_changes
// Notes on the versions that this write closed who withdrew or corrected the fact. Searches of the past find them.
UNWIND $p.rows AS row
MATCH (v:FactVersion {fact_uuid: row.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space AND v.known_until = $p.now
SET v:BraidPastFact, v.change_kind = row.kind, v.change_user = row.user, v.change_reason = row.reason, v.change_episode = row.episode,
    v.change_replacement = row.replacement

// name: replacement_of_fact
// Returns the fact that replaced one by a correction, unless that one stands.
MATCH (v:FactVersion {fact_uuid: $p.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid)
WHERE v.group_id = $p.space AND NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) }
WITH v ORDER BY v.known_until DESC LIMIT 1
WITH v WHERE v.change_kind = 'corrected'
RETURN v.change_replacement AS uuid

// name: take_missing_from_source
// Deletes the records of facts that a source stated only before a revision, at most `limit`; returns the facts, and
// whether something else also states them.
MATCH (s:BraidFactSource {group_id: $p.space, source: $p.source}) USING INDEX SEEK s:BraidFactSource(group_id, source, fact_uuid)
WHERE s.fact_uuid >= '' AND ($p.first = 0 OR s.revision < $p.first)
WITH s LIMIT $p.limit
WITH s, s.fact_uuid AS uuid, s.shared AS shared
DELETE s
RETURN uuid, shared
  OR EXISTS { MATCH (o:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK o:BraidFactSource(fact_uuid) WHERE o.group_id = $p.space AND o.source <> $p.source }
  OR EXISTS { MATCH (c:FactClaim {fact_uuid: uuid}) USING INDEX SEEK c:FactClaim(fact_uuid) WHERE c.group_id = $p.space AND c.episode_uuid IS NOT NULL } AS supported
