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
