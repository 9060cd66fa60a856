// Replaces the active vectors of some of the space's stated facts with the staged ones; facts without a staged vector
// lose theirs.
UNWIND $p.uuids AS uuid
MATCH ()-[e:RELATES_TO {uuid: uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
WITH e, e.fact_embedding IS NOT NULL AS had, coalesce(e.next_model, '') = $p.model AND size(e.next_embedding) = coalesce($p.dimension, size(e.next_embedding)) AS has
CALL (e, had, has) {
  WITH e, had, has WHERE has
  CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', e.next_embedding)
}
FOREACH (_ IN CASE WHEN had AND NOT has THEN [1] ELSE [] END | REMOVE e.fact_embedding)
WITH e, had, has, CASE WHEN has THEN size(e.next_embedding) END AS dimension
REMOVE e.next_embedding, e.next_model
RETURN sum(CASE WHEN has AND NOT had THEN 1 WHEN had AND NOT has THEN -1 ELSE 0 END) AS change, max(dimension) AS dimension
