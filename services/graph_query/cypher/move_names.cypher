// Puts vectors of another model in the place of those in use, for a page of the space's entities with a vector of their name; those without lose theirs.
MATCH (e:Entity)
WHERE e.group_id = $p.space AND e.uuid > $p.after_uuid
WITH e ORDER BY e.group_id, e.uuid LIMIT $p.limit
WITH e, e.name_embedding IS NOT NULL AS had, coalesce(e.next_model, '') = $p.model AND size(e.next_embedding) = coalesce($p.dimension, size(e.next_embedding)) AS has
CALL (e, had, has) {
  WITH e, had, has WHERE has
  CALL db.create.setNodeVectorProperty(e, 'name_embedding', e.next_embedding)
}
FOREACH (_ IN CASE WHEN had AND NOT has THEN [1] ELSE [] END | REMOVE e.name_embedding)
WITH e, had, has, CASE WHEN has THEN size(e.next_embedding) END AS dimension
REMOVE e.next_embedding, e.next_model
WITH collect(['', e.uuid]) AS page, sum(CASE WHEN has AND NOT had THEN 1 WHEN had AND NOT has THEN -1 ELSE 0 END) AS change, max(dimension) AS dimension
RETURN size(page) AS seen, page[-1] AS last, change, dimension
