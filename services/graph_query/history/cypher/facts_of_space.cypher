// A page of the space's stated facts in time order.
CYPHER 25
CALL () {
  OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
  RETURN coalesce(o.events, []) AS events
}
CALL (events) {
  MATCH ()-[e:RELATES_TO]->()
  USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND CASE e.valid_from WHEN $p.after_from THEN e.uuid > $p.after_uuid ELSE true END 
    // Not OR: that would read two ranges of the index, and sort.
    AND CASE WHEN e.valid_until > $p.since THEN true
             ELSE NOT $p.lasting AND $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL AND e.relation_key IN events END
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= (floor(e.valid_from / 86400) + 1) * 86400 AND e.relation_key IN events)
  WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
  RETURN e
}
MATCH (a)-[e]->(b)
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
  coalesce(e.origin, 'extracted'),
  e.relation_key IN events], cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts
