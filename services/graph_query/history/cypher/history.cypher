// name: differences_of_entity
// An entity's stated facts that are valid at only one of two times, without an equal fact at the other time. An event
// that ended on its day counts as having happened at every later time.
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
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK n:Entity(uuid) WHERE NOT $p.with_other OR b.uuid IN others
  RETURN e
  UNION
  WITH uuid WHERE $p.incoming
  MATCH (n:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  RETURN e
}
WITH DISTINCT e WHERE e.group_id = $p.space AND ($p.relation = '' OR e.relation_key = $p.relation)
WITH e, e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events } AS event
WITH e, e.valid_from <= $p.before.until AND (event OR e.valid_until > $p.before.since) AS before,
     e.valid_from <= $p.after.until AND (event OR e.valid_until > $p.after.since) AS after
WHERE before <> after
MATCH (a)-[e]->(b)
WITH a, b, e, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.relation_key = e.relation_key AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(e.attribute_names, []))
    AND all(key IN coalesce(e.attribute_names, []) WHERE x[key] = e[key])
}
WITH e, a, before LIMIT $p.limit
RETURN collect([e.uuid, a.uuid, e.relation_key, e.valid_from, before]) AS found

// name: differences_of_space
// The space's stated facts that are valid at only one of two times, without an equal fact at the other time. An event
// that ended on its day counts as having happened at every later time.
CYPHER 25
MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
WHERE e.group_id = $p.space AND e.valid_from <= $p.begun AND e.uuid >= '' AND e.valid_until > $p.over
WITH e WHERE $p.relation = '' OR e.relation_key = $p.relation
WITH e, e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events } AS event
WITH e, e.valid_from <= $p.before.until AND (event OR e.valid_until > $p.before.since) AS before,
     e.valid_from <= $p.after.until AND (event OR e.valid_until > $p.after.since) AS after
WHERE before <> after
MATCH (a)-[e]->(b)
WITH a, b, e, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.relation_key = e.relation_key AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(e.attribute_names, []))
    AND all(key IN coalesce(e.attribute_names, []) WHERE x[key] = e[key])
}
WITH e, a, before LIMIT $p.limit
RETURN collect([e.uuid, a.uuid, e.relation_key, e.valid_from, before]) AS found

// name: entity_history
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

// name: entity_history_as_known
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

// name: facts_attributed
// Stated facts with their ends, citations and attributes.
CYPHER 25
UNWIND $p.uuids AS wanted
MATCH ()-[e:RELATES_TO {uuid: wanted}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
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

// name: facts_of_entity
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

// name: facts_of_relation
// A page of a relation's stated facts in time order.
CYPHER 25
CALL () {
  OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
  RETURN coalesce(o.events, []) AS events
}
CALL (events) {
  MATCH ()-[e:RELATES_TO]->()
  USING INDEX SEEK e:RELATES_TO(group_id, relation_key, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.relation_key = $p.relation AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND CASE e.valid_from WHEN $p.after_from THEN e.uuid > $p.after_uuid ELSE true END 
    // Not OR: that would read two ranges of the index, and sort.
    AND CASE WHEN e.valid_until > $p.since THEN true
             ELSE NOT $p.lasting AND $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL AND e.relation_key IN events END
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= (floor(e.valid_from / 86400) + 1) * 86400 AND e.relation_key IN events)
  WITH e ORDER BY e.group_id, e.relation_key, e.valid_from, e.uuid LIMIT $p.limit
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

// name: facts_of_space
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

// name: facts_of_subject
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

// name: known_differences_of_entity
// As differences_of_entity, for the facts as they were known at an instant.
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
  MATCH (a:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid)
  WHERE $p.outgoing AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(a.braid_types, [])) - 1) WHERE a.braid_types_until[i] > e.braid_known_from | a.braid_types[i]][0], [l IN labels(a) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR b.uuid IN others AND ($p.other.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.other.type]))
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (b:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK b:Entity(uuid)
  WHERE $p.incoming AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE $p.incoming AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH DISTINCT one, fact, source, target, prefix
WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
WITH one, fact, source, target, prefix, one.valid_until <= (floor(one.valid_from / 86400) + 1) * 86400 AND one.expired_at IS NULL AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events } AS event
WITH one, fact, source, target, prefix, one.valid_from <= $p.before.until AND (event OR one.valid_until > $p.before.since) AS before,
     one.valid_from <= $p.after.until AND (event OR one.valid_until > $p.after.since) AS after
WHERE before <> after
WITH one, fact, source, target, prefix, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
  MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
  WITH a, b LIMIT 1
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.braid_known_from <= $p.known AND x.relation_key = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x[key] = one[prefix + key])
} AND NOT EXISTS {
  MATCH (x:FactVersion {source_uuid: source, target_uuid: target}) USING INDEX SEEK x:FactVersion(source_uuid, target_uuid)
  WHERE x.known_from <= $p.known AND x.known_until > $p.known
    AND coalesce(x.relation_key, toLower(x.name)) = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x['a_' + key] = one[prefix + key])
}
WITH one, fact, source, before LIMIT $p.limit
RETURN collect([fact, source, coalesce(one.relation_key, toLower(one.name)), one.valid_from, before]) AS found

// name: known_differences_of_space
// As differences_of_space, for the facts as they were known at an instant.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from <= $p.begun AND e.uuid >= '' AND e.braid_known_from <= $p.known
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION ALL
  MATCH (v:FactVersion) USING INDEX SEEK v:FactVersion(group_id, valid_from, fact_uuid)
  WHERE v.group_id = $p.space AND v.valid_from <= $p.begun AND v.fact_uuid >= '' AND v.known_from <= $p.known AND v.known_until > $p.known
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH one, fact, source, target, prefix WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
WITH one, fact, source, target, prefix, one.valid_until <= (floor(one.valid_from / 86400) + 1) * 86400 AND one.expired_at IS NULL AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
     AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events } AS event
WITH one, fact, source, target, prefix, one.valid_from <= $p.before.until AND (event OR one.valid_until > $p.before.since) AS before,
     one.valid_from <= $p.after.until AND (event OR one.valid_until > $p.after.since) AS after
WHERE before <> after
WITH one, fact, source, target, prefix, before, CASE WHEN before THEN $p.after ELSE $p.before END AS other
WHERE NOT EXISTS {
  MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
  MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
  WITH a, b LIMIT 1
  MATCH (a)-[x:RELATES_TO]->(b)
  WHERE x.braid_known_from <= $p.known AND x.relation_key = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x[key] = one[prefix + key])
} AND NOT EXISTS {
  MATCH (x:FactVersion {source_uuid: source, target_uuid: target}) USING INDEX SEEK x:FactVersion(source_uuid, target_uuid)
  WHERE x.known_from <= $p.known AND x.known_until > $p.known
    AND coalesce(x.relation_key, toLower(x.name)) = coalesce(one.relation_key, toLower(one.name)) AND x.valid_from <= other.until AND x.valid_until > other.since
    AND size(coalesce(x.attribute_names, [])) = size(coalesce(one.attribute_names, []))
    AND all(key IN coalesce(one.attribute_names, []) WHERE x['a_' + key] = one[prefix + key])
}
WITH one, fact, source, before LIMIT $p.limit
RETURN collect([fact, source, coalesce(one.relation_key, toLower(one.name)), one.valid_from, before]) AS found

// name: versions_known
// Facts as they were known at an instant: the current version or a past one.
CYPHER 25
UNWIND $p.uuids AS wanted
CALL (wanted) {
  MATCH ()-[e:RELATES_TO {uuid: wanted}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: wanted}) USING INDEX SEEK v:FactVersion(fact_uuid)
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL (one, e) {
  UNWIND coalesce(e.episodes, [one.episode_uuid])[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''), coalesce(labels(a), [one.source_type]), target,
  coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]), one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }],
  cited, [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]) AS facts

// name: versions_of_entity
// A page of an entity's facts as they were known at an instant, in time order: current versions or past ones.
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
  MATCH (a:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid)
  WHERE $p.outgoing AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(a.braid_types, [])) - 1) WHERE a.braid_types_until[i] > e.braid_known_from | a.braid_types[i]][0], [l IN labels(a) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR b.uuid IN others AND ($p.other.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.other.type]))
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (b:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK b:Entity(uuid)
  WHERE $p.incoming AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR coalesce([i IN range(0, size(coalesce(b.braid_types, [])) - 1) WHERE b.braid_types_until[i] > e.braid_known_from | b.braid_types[i]][0], [l IN labels(b) WHERE l <> 'Entity'][0], '') IN ['', $p.anchor.type])
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE $p.incoming AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH DISTINCT one, fact, source, target, prefix
WHERE one.valid_from <= $p.until AND (one.valid_until > $p.since
      OR NOT $p.lasting AND $p.since = $p.until AND one.valid_until <= (floor(one.valid_from / 86400) + 1) * 86400 AND one.expired_at IS NULL AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events })
  AND NOT ($p.lasting AND one.valid_until >= $p.open AND $p.since >= (floor(one.valid_from / 86400) + 1) * 86400
      AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events })
  AND ($p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation)
  AND (one.valid_from > $p.after_from OR one.valid_from = $p.after_from AND fact > $p.after_uuid)
WITH one, fact, source, target, prefix ORDER BY one.valid_from, fact LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL (one, e) {
  UNWIND coalesce(e.episodes, [one.episode_uuid])[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''), coalesce(labels(a), [one.source_type]), target,
  coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]), one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }],
  cited, [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]) AS facts

// name: versions_of_fact
// The last versions of a fact, including the current one, with who withdrew or corrected each.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from IS NOT NULL
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix, e.braid_known_from AS known_from, $p.open AS known_until, e.braid_cause AS cause,
    e.braid_corrects AS corrects, null AS change
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: $p.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix, v.known_from AS known_from, v.known_until AS known_until, v.episode_uuid AS cause,
    v.corrects AS corrects, CASE WHEN v.change_kind IS NULL THEN null ELSE [v.change_kind, v.change_user, v.change_reason, v.change_episode, v.change_replacement] END AS change
}
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change ORDER BY known_from DESC LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change, a, b ORDER BY known_from
RETURN collect([known_from, known_until, [coalesce(cause, ''), coalesce(corrects, ''), change], [[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''),
  coalesce(labels(a), [one.source_type]), target, coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]),
  one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }], [], [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]]) AS versions

// name: versions_of_space
// A page of the space's facts as they were known at an instant, in time order: current versions or past ones.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND (e.valid_from > $p.after_from OR e.uuid > $p.after_uuid) AND (e.valid_until > $p.since
      OR NOT $p.lasting AND $p.since = $p.until AND e.valid_until <= (floor(e.valid_from / 86400) + 1) * 86400 AND e.expired_at IS NULL
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= (floor(e.valid_from / 86400) + 1) * 86400
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE e.relation_key IN o.events })
    AND e.braid_known_from <= $p.known AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
  RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix
  UNION ALL
  MATCH (v:FactVersion) USING INDEX SEEK v:FactVersion(group_id, valid_from, fact_uuid)
  WHERE v.group_id = $p.space AND v.valid_from >= $p.after_from AND v.valid_from <= $p.until AND v.fact_uuid >= ''
    AND (v.valid_from > $p.after_from OR v.fact_uuid > $p.after_uuid) AND (v.valid_until > $p.since
      OR NOT $p.lasting AND $p.since = $p.until AND v.valid_until <= (floor(v.valid_from / 86400) + 1) * 86400 AND coalesce(v.stated_until, v.valid_until) <= v.valid_until
          AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(v.relation_key, toLower(v.name)) IN o.events })
    AND NOT ($p.lasting AND v.valid_until >= $p.open AND $p.since >= (floor(v.valid_from / 86400) + 1) * 86400
        AND EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(v.relation_key, toLower(v.name)) IN o.events })
    AND v.known_from <= $p.known AND v.known_until > $p.known AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation)
  WITH v ORDER BY v.group_id, v.valid_from, v.fact_uuid LIMIT $p.limit
  RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix
}
WITH one, fact, source, target, prefix ORDER BY one.valid_from, fact LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL (one, e) {
  UNWIND coalesce(e.episodes, [one.episode_uuid])[..$p.citations] AS uuid
  MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
  RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited
}
RETURN collect([[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''), coalesce(labels(a), [one.source_type]), target,
  coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]), one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(one.relation_key, toLower(one.name)) IN o.events }],
  cited, [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]) AS facts

// name: withdrawn_facts
// Facts of entities that were withdrawn or replaced by an instant and do not stand at it, latest first. The facts are as
// last known, with their entities' names of now or, if they exist no longer, of then.
CYPHER 25
CALL () {
  MATCH (k:EntityName {group_id: $p.space, name_key: $p.anchor.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.type >= '' AND ($p.anchor.type = '' OR k.type = $p.anchor.type)
  RETURN k.entity_uuid AS entity
  UNION
  UNWIND $p.anchor.uuids AS entity
  RETURN entity
}
CALL (entity) {
  MATCH (v:FactVersion {source_uuid: entity}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND v.group_id = $p.space
  RETURN v
  UNION
  MATCH (v:FactVersion {target_uuid: entity}) USING INDEX SEEK v:FactVersion(target_uuid) WHERE v.group_id = $p.space
  RETURN v
}
WITH DISTINCT v
WHERE v.change_kind IS NOT NULL AND v.change_replacement <> v.fact_uuid AND v.known_until <= $p.known
  AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation)
  AND NOT EXISTS { MATCH ()-[e:RELATES_TO {uuid: v.fact_uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known }
  AND NOT EXISTS { MATCH (w:FactVersion {fact_uuid: v.fact_uuid}) USING INDEX SEEK w:FactVersion(fact_uuid)
    WHERE w.group_id = $p.space AND w.known_from <= $p.known AND w.known_until > v.known_until }
WITH v ORDER BY v.known_until DESC, v.fact_uuid LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: v.source_uuid}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: v.target_uuid}) USING INDEX SEEK b:Entity(uuid)
WITH v, a, b ORDER BY v.known_until DESC, v.fact_uuid
RETURN collect([v.known_from, v.known_until, ['', '', [v.change_kind, v.change_user, v.change_reason, v.change_episode, v.change_replacement]],
  [[v.fact_uuid, v.fact, v.name, v.source_uuid, coalesce(a.name, v.source_name, ''), coalesce(labels(a), [v.source_type]), v.target_uuid,
  coalesce(b.name, v.target_name, ''), coalesce(labels(b), [v.target_type]), v.valid_at, v.invalid_at, v.created_at, coalesce(v.origin, 'given'),
  EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce(v.relation_key, toLower(v.name)) IN o.events }],
  [], [key IN coalesce(v.attribute_names, []) | [key, v['a_' + key]]]]]) AS versions
