// Saves the current state of facts as past versions before they are changed or removed. A state written by this same
// transaction was never visible and is not saved. An end's type is the one it had when the state became known.
UNWIND $p.rows AS row
MATCH (a)-[e:RELATES_TO {uuid: row.fact_uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.braid_known_from < $p.now
CREATE (v:FactVersion)
SET v = {uuid: row.uuid, group_id: $p.space, fact_uuid: e.uuid, source_uuid: a.uuid, target_uuid: b.uuid, source_name: a.name, target_name: b.name,
         source_type: coalesce([i IN range(0, size(coalesce(a.braid_types, [])) - 1) WHERE a.braid_types_until[i] > e.braid_known_from | a.braid_types[i]][0], [l IN labels(a) WHERE l <> 'Entity'][0], ''),
         target_type: coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], ''),
         name: e.name, relation_key: e.relation_key, fact: e.fact, braid_words: e.braid_words, origin: coalesce(e.origin, 'extracted'), valid_at: e.valid_at, invalid_at: e.invalid_at,
         valid_from: e.valid_from, valid_until: e.valid_until, created_at: e.created_at, known_from: e.braid_known_from, known_until: $p.now,
         episode_uuid: e.braid_cause, ended_by: e.braid_ended_by, stated_at: e.stated_at, stated_until: e.stated_until,
         corrects: e.braid_corrects, attribute_names: coalesce(e.attribute_names, [])}
FOREACH (key IN coalesce(e.attribute_names, []) | SET v['a_' + key] = e[key])
