// A page of an entity's stated facts in time order, with the entity at either end or at one, optionally with another
// entity at the other end.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS uuid
  UNION
  UNWIND $p.anchor.uuids AS uuid
  RETURN uuid
}
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.other.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.other.type = '' OR k.type = $p.other.type)
  RETURN collect(k.entity_uuid) + $p.other.uuids AS others
}
CALL (uuid, others) {
  WITH uuid, others WHERE $p.outgoing
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND (e.valid_until > $p.since
    OR NOT $p.lasting AND $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= (floor(e.valid_from / 86400) + 1) * 86400
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND (NOT $p.with_other OR b.uuid IN others)
    AND ($p.relation = '' OR e.relation_key = $p.relation)
    AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
  RETURN e
  UNION
  WITH uuid WHERE $p.incoming
  MATCH (n:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND (e.valid_until > $p.since
    OR NOT $p.lasting AND $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= (floor(e.valid_from / 86400) + 1) * 86400
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND ($p.relation = '' OR e.relation_key = $p.relation)
    AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
  RETURN e
}
WITH DISTINCT e ORDER BY e.valid_from, e.uuid LIMIT $p.limit
MATCH (a)-[e]->(b)
CALL (e) {
  UNWIND e.episodes[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
  coalesce(e.origin, 'extracted'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events }],
  cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts
