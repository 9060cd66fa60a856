// A page of the stated facts whose subject is an entity, in time order: the common case of facts_of_entity, twice as
// fast.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
MATCH (n:Entity {uuid: k.entity_uuid})-[e:RELATES_TO]->() USING INDEX SEEK n:Entity(uuid)
WHERE e.group_id = $p.space AND e.valid_from <= $p.until AND (e.valid_until > $p.since
    OR $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND ($p.relation = '' OR e.relation_key = $p.relation)
  AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
WITH e ORDER BY e.valid_from, e.uuid LIMIT $p.limit
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
