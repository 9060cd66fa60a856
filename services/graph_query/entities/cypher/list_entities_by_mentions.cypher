// Scans the space's next `scan` entities by mentions (descending), name key and uuid after a position; returns up to
// `limit` matching ones and where the scan ended. `titles` null: documents' titles or not.
CALL () {
  CALL () {
    MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, mention_rank, name_key, entity_uuid)
    WHERE k.group_id = $p.space AND k.mention_rank = $p.after_rank AND k.name_key >= $p.after_key AND k.entity_uuid >= ''
      AND (k.name_key > $p.after_key OR k.entity_uuid > $p.after_uuid)
    WITH k ORDER BY k.group_id, k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
    RETURN k
    UNION ALL
    MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, mention_rank, name_key, entity_uuid)
    WHERE k.group_id = $p.space AND k.mention_rank > $p.after_rank AND k.name_key >= '' AND k.entity_uuid >= ''
    WITH k ORDER BY k.group_id, k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
    RETURN k
  }
  WITH k ORDER BY k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
  RETURN collect(k) AS names
}
CALL (names) {
  UNWIND [k IN names WHERE ($p.type = '' OR k.type = $p.type) AND (coalesce($p.titles, false) = false OR k.title)] AS k
  MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
  WITH k, n, coalesce(k.title, false) AND NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (n)<-[:MENTIONS]-() } AS title
  WHERE $p.titles IS NULL OR title = $p.titles
  WITH k, n, title ORDER BY k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.limit
  RETURN collect({uuid: n.uuid, name: n.name, labels: labels(n), summary: coalesce(n.summary, ''), mentions: -coalesce(k.mention_rank, 0),
    attributes: [key IN coalesce(n.attribute_names, []) | [key, n[key]]], document_title: title, key: k.name_key}) AS entities
}
RETURN size(names) AS seen, [names[-1].mention_rank, names[-1].name_key, names[-1].entity_uuid] AS last, entities
