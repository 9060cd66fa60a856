// Appends a version of each fact as it is now and closes the one before. Versions are never changed, only closed; one that
// was appended in this same write was never known and is replaced.
UNWIND $p.rows AS row
MATCH (a)-[e:RELATES_TO {uuid: row.fact_uuid}]->(b)
CALL (row) {
  MATCH (old:FactVersion {fact_uuid: row.fact_uuid}) WHERE old.known_until = $p.open AND old.known_from < $p.now
  SET old.known_until = $p.now
}
MERGE (v:FactVersion {uuid: row.uuid})
SET v = {uuid: row.uuid, group_id: $p.space, fact_uuid: e.uuid, source_uuid: a.uuid, target_uuid: b.uuid, source_name: a.name,
         target_name: b.name, source_type: coalesce([l IN labels(a) WHERE l <> 'Entity'][0], ''),
         target_type: coalesce([l IN labels(b) WHERE l <> 'Entity'][0], ''), name: e.name, fact: e.fact,
         origin: coalesce(e.origin, 'extracted'), valid_at: e.valid_at, invalid_at: e.invalid_at, valid_from: e.valid_from,
         valid_until: e.valid_until, created_at: e.created_at, known_from: $p.now, known_until: $p.open,
         episode_uuid: coalesce(row.cause, head(e.episodes)), attribute_names: coalesce(e.attribute_names, [])}
FOREACH (key IN coalesce(e.attribute_names, []) | SET v['a_' + key] = e[key])
