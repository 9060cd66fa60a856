// name: differences_of_entity
// An entity's stated facts that are valid at only one of two times, without an equal fact at the other time. An event
// that ended on its day counts as having happened at every later time.
CYPHER 25
{{each_anchor}}
{{other_entities}}
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
WITH e, {{lasts_one_day e}}
     AND {{is_event e}} AS event
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
WITH e, {{lasts_one_day e}}
     AND {{is_event e}} AS event
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
{{each_anchor}}
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
WITH n, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
ORDER BY mentions DESC, facts DESC, n.uuid
WITH collect(n) AS found, collect([n.uuid, n.name, labels(n), coalesce(n.summary, ''), mentions]) AS entities
{{event_relations}}
CALL (found, events) {
  UNWIND CASE WHEN size(found) = 1 AND $p.whole THEN found ELSE [] END AS n
  MATCH (n)-[e:RELATES_TO]-()
  WHERE e.group_id = $p.space AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH DISTINCT e
  RETURN collect([e.uuid, e.name, e.valid_from, e.valid_until, e.created_at.epochSeconds + e.created_at.microsecond / 1000000.0,
      e.relation_key IN events]) AS moments,
    collect(CASE WHEN e.valid_from <= $p.reference AND e.valid_until > $p.reference AND e.valid_until > $p.since
      AND NOT (e.valid_until >= $p.open AND $p.reference >= {{end_of_first_day e}} AND e.relation_key IN events) THEN e END) AS holding
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
  {{citations_of e}}
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
{{event_relations}}
UNWIND $p.anchor.uuids AS uuid
CALL (uuid, events) {
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND e.braid_known_from <= $p.known AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH n, e, {{type_until n e.braid_known_from}} AS type
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
{{facts_with_citations}}

// name: facts_of_entity
// A page of an entity's stated facts in time order, with the entity at either end or at one, optionally with another
// entity at the other end.
CYPHER 25
{{each_anchor}}
{{other_entities}}
CALL (uuid, others) {
  WITH uuid, others WHERE $p.outgoing
  MATCH (n:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND {{holds_with_lasting e}}
    AND (NOT $p.with_other OR b.uuid IN others)
    AND ($p.relation = '' OR e.relation_key = $p.relation)
    AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
  RETURN e
  UNION
  WITH uuid WHERE $p.incoming
  MATCH (n:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK n:Entity(uuid)
  WHERE e.group_id = $p.space AND {{holds_with_lasting e}}
    AND ($p.relation = '' OR e.relation_key = $p.relation)
    AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
  RETURN e
}
WITH DISTINCT e ORDER BY e.valid_from, e.uuid LIMIT $p.limit
MATCH (a)-[e]->(b)
{{facts_with_citations}}

// name: facts_of_relation
// A page of a relation's stated facts in time order.
CYPHER 25
{{event_relations}}
CALL (events) {
  MATCH ()-[e:RELATES_TO]->()
  USING INDEX SEEK e:RELATES_TO(group_id, relation_key, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.relation_key = $p.relation AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND CASE e.valid_from WHEN $p.after_from THEN e.uuid > $p.after_uuid ELSE true END 
    // Not OR: that would read two ranges of the index, and sort.
    AND CASE WHEN e.valid_until > $p.since THEN true
             ELSE NOT $p.lasting AND $p.since = $p.until AND {{lasts_one_day e}} AND e.relation_key IN events END
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= {{end_of_first_day e}} AND e.relation_key IN events)
  WITH e ORDER BY e.group_id, e.relation_key, e.valid_from, e.uuid LIMIT $p.limit
  RETURN e
}
MATCH (a)-[e]->(b)
{{citations_of e}}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
  coalesce(e.origin, 'extracted'),
  e.relation_key IN events], cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts

// name: facts_of_space
// A page of the space's stated facts in time order.
CYPHER 25
{{event_relations}}
CALL (events) {
  MATCH ()-[e:RELATES_TO]->()
  USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND CASE e.valid_from WHEN $p.after_from THEN e.uuid > $p.after_uuid ELSE true END 
    // Not OR: that would read two ranges of the index, and sort.
    AND CASE WHEN e.valid_until > $p.since THEN true
             ELSE NOT $p.lasting AND $p.since = $p.until AND {{lasts_one_day e}} AND e.relation_key IN events END
    AND NOT ($p.lasting AND e.valid_until >= $p.open AND $p.since >= {{end_of_first_day e}} AND e.relation_key IN events)
  WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
  RETURN e
}
MATCH (a)-[e]->(b)
{{citations_of e}}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
  coalesce(e.origin, 'extracted'),
  e.relation_key IN events], cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts

// name: facts_of_subject
// A page of the stated facts whose subject is an entity, in time order: the common case of facts_of_entity, twice as
// fast.
{{names_given_by anchor}}
MATCH (n:Entity {uuid: k.entity_uuid})-[e:RELATES_TO]->() USING INDEX SEEK n:Entity(uuid)
WHERE e.group_id = $p.space AND {{holds e}}
    AND ($p.relation = '' OR e.relation_key = $p.relation)
  AND (e.valid_from > $p.after_from OR e.valid_from = $p.after_from AND e.uuid > $p.after_uuid)
WITH e ORDER BY e.valid_from, e.uuid LIMIT $p.limit
MATCH (a)-[e]->(b)
{{facts_with_citations}}

// name: known_differences_of_entity
// As differences_of_entity, for the facts as they were known at an instant.
CYPHER 25
{{each_anchor}}
{{other_entities}}
CALL (uuid, others) {
  MATCH (a:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid)
  WHERE $p.outgoing AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR {{type_until a e.braid_known_from}} IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR b.uuid IN others AND ($p.other.type = '' OR {{type_until b e.braid_known_from}} IN ['', $p.other.type]))
  {{fact_as_version}}
  UNION
  MATCH (b:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK b:Entity(uuid)
  WHERE $p.incoming AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR {{type_until b e.braid_known_from}} IN ['', $p.anchor.type])
  {{fact_as_version}}
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  {{past_version}}
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE $p.incoming AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  {{past_version}}
}
WITH DISTINCT one, fact, source, target, prefix
WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
WITH one, fact, source, target, prefix, {{lasts_one_day one}} AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
     AND {{version_is_event one}} AS event
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
  {{fact_as_version}}
  UNION ALL
  MATCH (v:FactVersion) USING INDEX SEEK v:FactVersion(group_id, valid_from, fact_uuid)
  WHERE v.group_id = $p.space AND v.valid_from <= $p.begun AND v.fact_uuid >= '' AND v.known_from <= $p.known AND v.known_until > $p.known
  {{past_version}}
}
WITH one, fact, source, target, prefix WHERE $p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation
WITH one, fact, source, target, prefix, {{lasts_one_day one}} AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
     AND {{version_is_event one}} AS event
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
  {{fact_as_version}}
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: wanted}) USING INDEX SEEK v:FactVersion(fact_uuid)
  WHERE v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
  {{past_version}}
}
{{versions_with_citations}}

// name: versions_of_entity
// A page of an entity's facts as they were known at an instant, in time order: current versions or past ones.
CYPHER 25
{{each_anchor}}
{{other_entities}}
CALL (uuid, others) {
  MATCH (a:Entity {uuid: uuid})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid)
  WHERE $p.outgoing AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR {{type_until a e.braid_known_from}} IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR b.uuid IN others AND ($p.other.type = '' OR {{type_until b e.braid_known_from}} IN ['', $p.other.type]))
  {{fact_as_version}}
  UNION
  MATCH (b:Entity {uuid: uuid})<-[e:RELATES_TO]-() USING INDEX SEEK b:Entity(uuid)
  WHERE $p.incoming AND e.group_id = $p.space AND e.braid_known_from <= $p.known
    AND ($p.anchor.type = '' OR {{type_until b e.braid_known_from}} IN ['', $p.anchor.type])
  {{fact_as_version}}
  UNION
  MATCH (v:FactVersion {source_uuid: uuid}) USING INDEX SEEK v:FactVersion(source_uuid, target_uuid)
  WHERE v.target_uuid >= '' AND $p.outgoing AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
    AND (NOT $p.with_other OR v.target_uuid IN others AND ($p.other.type = '' OR v.target_type IN ['', $p.other.type]))
  {{past_version}}
  UNION
  MATCH (v:FactVersion {target_uuid: uuid}) USING INDEX SEEK v:FactVersion(target_uuid)
  WHERE $p.incoming AND v.group_id = $p.space AND v.known_from <= $p.known AND v.known_until > $p.known
    AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  {{past_version}}
}
WITH DISTINCT one, fact, source, target, prefix
WHERE one.valid_from <= $p.until AND (one.valid_until > $p.since
      OR NOT $p.lasting AND $p.since = $p.until AND {{lasts_one_day one}} AND coalesce(one.stated_until, one.valid_until) <= one.valid_until
          AND {{version_is_event one}})
  AND NOT ({{version_is_past_event one}})
  AND ($p.relation = '' OR coalesce(one.relation_key, toLower(one.name)) = $p.relation)
  AND (one.valid_from > $p.after_from OR one.valid_from = $p.after_from AND fact > $p.after_uuid)
WITH one, fact, source, target, prefix ORDER BY one.valid_from, fact LIMIT $p.limit
{{versions_with_citations}}

// name: versions_of_fact
// The last versions of a fact, including the current one, with who withdrew or corrected each.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO {uuid: $p.uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space AND e.braid_known_from IS NOT NULL
  {{fact_as_version}}, e.braid_known_from AS known_from, $p.open AS known_until, e.braid_cause AS cause,
    e.braid_corrects AS corrects, null AS change
  UNION ALL
  MATCH (v:FactVersion {fact_uuid: $p.uuid}) USING INDEX SEEK v:FactVersion(fact_uuid) WHERE v.group_id = $p.space
  {{past_version}}, v.known_from AS known_from, v.known_until AS known_until, v.episode_uuid AS cause,
    v.corrects AS corrects, CASE WHEN v.change_kind IS NULL THEN null ELSE [v.change_kind, v.change_user, v.change_reason, v.change_episode, v.change_replacement] END AS change
}
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change ORDER BY known_from DESC LIMIT $p.limit
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
WITH one, fact, source, target, prefix, known_from, known_until, cause, corrects, change, a, b ORDER BY known_from
RETURN collect([known_from, known_until, [coalesce(cause, ''), coalesce(corrects, ''), change], [[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''),
  coalesce(labels(a), [one.source_type]), target, coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]),
  one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
  {{version_is_event one}}], [], [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]]) AS versions

// name: versions_of_space
// A page of the space's facts as they were known at an instant, in time order: current versions or past ones.
CYPHER 25
CALL () {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= $p.after_from AND e.valid_from <= $p.until AND e.uuid >= ''
    AND (e.valid_from > $p.after_from OR e.uuid > $p.after_uuid) AND (e.valid_until > $p.since
      OR NOT $p.lasting AND {{holds_as_event e}})
    AND NOT ({{is_past_event e}})
    AND e.braid_known_from <= $p.known AND ($p.relation = '' OR e.relation_key = $p.relation)
  WITH e ORDER BY e.group_id, e.valid_from, e.uuid LIMIT $p.limit
  {{fact_as_version}}
  UNION ALL
  MATCH (v:FactVersion) USING INDEX SEEK v:FactVersion(group_id, valid_from, fact_uuid)
  WHERE v.group_id = $p.space AND v.valid_from >= $p.after_from AND v.valid_from <= $p.until AND v.fact_uuid >= ''
    AND (v.valid_from > $p.after_from OR v.fact_uuid > $p.after_uuid) AND (v.valid_until > $p.since
      OR NOT $p.lasting AND {{version_holds_as_event v}})
    AND NOT ({{version_is_past_event v}})
    AND v.known_from <= $p.known AND v.known_until > $p.known AND ($p.relation = '' OR coalesce(v.relation_key, toLower(v.name)) = $p.relation)
  WITH v ORDER BY v.group_id, v.valid_from, v.fact_uuid LIMIT $p.limit
  {{past_version}}
}
WITH one, fact, source, target, prefix ORDER BY one.valid_from, fact LIMIT $p.limit
{{versions_with_citations}}

// name: withdrawn_facts
// Facts of entities that were withdrawn or replaced by an instant and do not stand at it, latest first. The facts are as
// last known, with their entities' names of now or, if they exist no longer, of then.
CYPHER 25
CALL () {
  {{names_given_by anchor}}
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
  {{version_is_event v}}],
  [], [key IN coalesce(v.attribute_names, []) | [key, v['a_' + key]]]]]) AS versions
