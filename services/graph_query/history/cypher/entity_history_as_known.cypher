// Summaries of an entity's facts as they were known at an instant, with the ends that they had: all, or those of a
// page.
CYPHER 25
CALL () {
  OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
  RETURN coalesce(o.events, []) AS events
}
UNWIND $p.anchor.uuids AS uuid
CALL (uuid, events) {
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH n, e, coalesce([i IN range(0, size(coalesce(n.braid_types, [])) - 1) WHERE n.braid_types_until[i] > e.braid_known_from | n.braid_types[i]][0], [l IN labels(n) WHERE l <> 'Entity'][0], '') AS type
  WHERE $p.anchor.type = '' OR type IN ['', $p.anchor.type]
  RETURN [e.uuid, e.name, e.valid_from, e.valid_until, e.created_at.epochSeconds + e.created_at.microsecond / 1000000.0, e.relation_key IN events] AS moment, [n.name, type] AS known_as
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation) AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
  RETURN [v.fact_uuid, v.name, v.valid_from, v.valid_until, v.created_at.epochSeconds + v.created_at.microsecond / 1000000.0, coalesce(v.relation_key, toLower(v.name)) IN events] AS moment,
    [v.source_name, v.source_type] AS known_as
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation) AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN [v.fact_uuid, v.name, v.valid_from, v.valid_until, v.created_at.epochSeconds + v.created_at.microsecond / 1000000.0, coalesce(v.relation_key, toLower(v.name)) IN events] AS moment,
    [v.target_name, v.target_type] AS known_as
}
WITH uuid, collect(moment) AS every, head(collect(known_as)) AS known_as
CALL (every) {
  UNWIND every AS one
  WITH one WHERE $p.whole OR one[3] > $p.since
    AND (one[2] > $p.after_from OR one[2] = $p.after_from AND (one[3] > $p.after_until OR one[3] = $p.after_until AND one[0] > $p.after_uuid))
  WITH one ORDER BY one[2], one[3], one[0]
  WITH collect(one) AS found
  RETURN CASE WHEN $p.whole THEN found ELSE found[..$p.limit] END AS moments
}
RETURN uuid, known_as, moments
