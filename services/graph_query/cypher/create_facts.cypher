// New facts in the order of their uuids, each with how documents and episodes gave it. What is known of a fact now is the fact
// itself, since `braid_known_from`; versions are of the past alone. Instants come as seconds and nanoseconds: the driver takes
// long to send them whole.
UNWIND $p.rows AS row
MATCH (a:Entity {uuid: row.source})
MATCH (b:Entity {uuid: row.target})
CREATE (a)-[e:RELATES_TO]->(b)
SET e = row.attributes
SET e += {uuid: row.uuid, group_id: $p.space, name: row.relation, relation_key: row.relation_key, fact: row.fact, episodes: [], created_at: $p.now,
          valid_at: CASE WHEN row.valid_at IS NULL THEN null ELSE datetime({epochSeconds: row.valid_at[0], nanosecond: row.valid_at[1]}) END,
          invalid_at: CASE WHEN row.invalid_at IS NULL THEN null ELSE datetime({epochSeconds: row.invalid_at[0], nanosecond: row.invalid_at[1]}) END,
          valid_from: row.valid_from, valid_until: row.valid_until, origin: row.origin, source_node_uuid: row.source, target_node_uuid: row.target,
          attribute_names: keys(row.attributes), braid_known_from: $p.known, braid_cause: $p.cause}
FOREACH (claim IN row.claims |
  CREATE (:FactClaim {group_id: $p.space, fact_uuid: row.uuid, document_id: claim.document_id, document_uuid: claim.document_uuid,
                      episode_uuid: claim.episode_uuid, given: claim.given}))
