// The selected entities; if there is exactly one, all of its stated facts as summaries (if requested), and in full a
// page of them and the latest of those valid at an instant.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
WITH n, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
ORDER BY mentions DESC, facts DESC, n.uuid
WITH collect(n) AS found, collect([n.uuid, n.name, labels(n), coalesce(n.summary, ''), mentions]) AS entities
CALL () {
  OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
  RETURN coalesce(o.events, []) AS events
}
CALL (found, events) {
  UNWIND CASE WHEN size(found) = 1 AND $p.whole THEN found ELSE [] END AS n
  MATCH (n)-[e:RELATES_TO]-()
  WHERE e.group_id = $p.space AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH DISTINCT e
  RETURN collect([e.uuid, e.name, e.valid_from, e.valid_until, e.created_at.epochSeconds + e.created_at.microsecond / 1000000.0,
      e.relation_key IN events]) AS moments,
    collect(CASE WHEN e.valid_from <= $p.reference AND e.valid_until > $p.reference AND e.valid_until > $p.since
      AND NOT (e.valid_until >= $p.open AND $p.reference >= (floor(e.valid_from / 86400) + 1) * 86400 AND e.relation_key IN events) THEN e END) AS holding
}
CALL (holding) {
  UNWIND holding AS e
  WITH e ORDER BY e.valid_from DESC, e.uuid LIMIT $p.current
  RETURN collect(e) AS latest
}
CALL (found) {
  UNWIND CASE WHEN size(found) = 1 AND $p.limit > 0 THEN found ELSE [] END AS n
  MATCH (n)-[e:RELATES_TO]-()
  WHERE e.group_id = $p.space AND e.valid_until > $p.since AND ($p.relation = '' OR e.relation_key = $p.relation)
    AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND (e.valid_until > $p.after_until OR e.valid_until = $p.after_until AND e.uuid > $p.after_uuid))
  WITH DISTINCT e ORDER BY e.valid_from, e.valid_until, e.uuid LIMIT $p.limit
  RETURN collect(e) AS page
}
CALL (page, latest, events) {
  UNWIND page + [e IN latest WHERE NOT e IN page] AS e
  MATCH (a)-[e]->(b)
  CALL (e) {
    UNWIND e.episodes[..$p.citations] AS uuid
    MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
    OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
    RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
  }
  RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
    coalesce(e.origin, 'extracted'), e.relation_key IN events], cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts
}
CALL (found) {
  UNWIND CASE WHEN size(found) = 1 THEN found ELSE [] END AS n
  OPTIONAL MATCH (n)<-[:BRAID_MENTIONS]-(p:Episodic)
  RETURN min(p.valid_at) AS mentioned
}
RETURN entities, coalesce(mentioned, found[0].created_at) AS first_seen, moments, [e IN page | e.uuid] AS page, [e IN latest | e.uuid] AS latest, facts
