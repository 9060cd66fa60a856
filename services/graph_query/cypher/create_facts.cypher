// New facts in the order of their uuids, each with its first version and with how documents and episodes gave it. Instants
// come as seconds and nanoseconds: the driver takes long to send them whole.
UNWIND $p.rows AS row
MATCH (a:Entity {uuid: row.source})
MATCH (b:Entity {uuid: row.target})
WITH row, a, b,
  CASE WHEN row.valid_at IS NULL THEN null ELSE datetime({epochSeconds: row.valid_at[0], nanosecond: row.valid_at[1]}) END AS valid_at,
  CASE WHEN row.invalid_at IS NULL THEN null ELSE datetime({epochSeconds: row.invalid_at[0], nanosecond: row.invalid_at[1]}) END AS invalid_at
CREATE (a)-[e:RELATES_TO]->(b)
SET e = row.attributes
SET e += {uuid: row.uuid, group_id: $p.space, name: row.relation, relation_key: row.relation_key, fact: row.fact, episodes: [], created_at: $p.now,
          valid_at: valid_at, invalid_at: invalid_at, valid_from: row.valid_from, valid_until: row.valid_until, origin: row.origin,
          source_node_uuid: row.source, target_node_uuid: row.target, attribute_names: keys(row.attributes)}
CREATE (v:FactVersion {uuid: row.version, group_id: $p.space, fact_uuid: row.uuid, source_uuid: row.source, target_uuid: row.target,
        source_name: a.name, target_name: b.name, source_type: coalesce([l IN labels(a) WHERE l <> 'Entity'][0], ''),
        target_type: coalesce([l IN labels(b) WHERE l <> 'Entity'][0], ''), name: row.relation, fact: row.fact, origin: row.origin,
        valid_at: valid_at, invalid_at: invalid_at, valid_from: row.valid_from, valid_until: row.valid_until, created_at: $p.now,
        known_from: $p.known, known_until: $p.open, episode_uuid: $p.cause, attribute_names: keys(row.attributes)})
FOREACH (key IN keys(row.attributes) | SET v['a_' + key] = row.attributes[key])
FOREACH (claim IN row.claims |
  CREATE (:FactClaim {group_id: $p.space, fact_uuid: row.uuid, document_id: claim.document_id, document_uuid: claim.document_uuid,
                      episode_uuid: claim.episode_uuid, given: claim.given}))
