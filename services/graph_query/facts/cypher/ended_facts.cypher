// name: create_past_versions
// Saves the current state of facts as past versions before they are changed or removed. A state written by this same
// transaction was never visible and is not saved. An end's type is the one it had when the state became known.
UNWIND $p.rows AS row
MATCH (a)-[e:RELATES_TO {uuid: row.fact_uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.braid_known_from < $p.now
CREATE (v:FactVersion)
SET v = {uuid: row.uuid, group_id: $p.space, fact_uuid: e.uuid, source_uuid: a.uuid, target_uuid: b.uuid, source_name: a.name, target_name: b.name,
         source_type: {{type_until a e.braid_known_from}},
         target_type: {{type_until b e.braid_known_from}},
         name: e.name, relation_key: e.relation_key, fact: e.fact, braid_words: e.braid_words, origin: coalesce(e.origin, 'extracted'), valid_at: e.valid_at, invalid_at: e.invalid_at,
         valid_from: e.valid_from, valid_until: e.valid_until, created_at: e.created_at, known_from: e.braid_known_from, known_until: $p.now,
         episode_uuid: e.braid_cause, ended_by: e.braid_ended_by, stated_at: e.stated_at, stated_until: e.stated_until,
         corrects: e.braid_corrects, attribute_names: coalesce(e.attribute_names, [])}
FOREACH (key IN coalesce(e.attribute_names, []) | SET v['a_' + key] = e[key])

// name: drop_endings
// Deletes the endings of deleted facts and returns them. Endings by existing episodes are kept in case the fact is
// stated again, unless the fact has moved.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid)
WHERE $p.moved OR x.cause = '' OR NOT EXISTS { MATCH (e:Episodic {group_id: $p.space, uuid: x.cause}) USING INDEX SEEK e:Episodic(group_id, uuid) }
WITH x, uuid, x.cause AS cause
DELETE x
RETURN uuid, cause

// name: end_facts
// Sets or removes the end of facts; the stated end is kept. Without a cause, the first episode that a fact cites is the
// cause of the change. `braid_ended_by` is the cause of the end itself.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.stated_at = CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END
SET e.stated_until = coalesce(e.stated_until, e.valid_until)
SET e.invalid_at = row.at, e.valid_until = row.until, e.expired_at = CASE WHEN row.until < e.stated_until THEN $p.now END,
    e.braid_known_from = $p.known, e.braid_cause = coalesce($p.cause, head(e.episodes)), e.braid_ended_by = row.told_by

// name: endings_of
// Returns how the given facts end: the stated end, the current end with its cause, and all endings.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.valid_from AS since, e.valid_until AS until, CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS stated,
       coalesce(e.braid_ended_by, '') AS told_by,
       COLLECT { MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid) RETURN [x.cause, x.at] } AS endings

// name: facts_with_endings
// Returns the given facts that have an ending.
UNWIND $p.uuids AS uuid
MATCH (x:FactEnding {fact_uuid: uuid}) USING INDEX SEEK x:FactEnding(fact_uuid)
RETURN DISTINCT uuid

// name: record_endings
// Records that causes end facts, and when; a cause has one ending for each fact.
UNWIND $p.rows AS row
MERGE (x:FactEnding {group_id: $p.space, cause: row.cause, fact_uuid: row.uuid})
SET x.at = row.at

// name: set_end_causes
// Changes which episode is the cause of facts' ends; the end itself stays the same.
UNWIND $p.rows AS row
MATCH ()-[e:RELATES_TO {uuid: row.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid)
SET e.braid_ended_by = row.told_by

// name: take_endings
// Deletes the endings set by the given causes; returns their facts.
UNWIND $p.causes AS cause
MATCH (x:FactEnding {group_id: $p.space, cause: cause}) USING INDEX SEEK x:FactEnding(group_id, cause, fact_uuid) WHERE x.fact_uuid >= ''
WITH x, x.fact_uuid AS uuid, cause
DELETE x
RETURN uuid, cause
