// fragment: end_of_first_day fact
// The instant at which the day ends on which a fact begins.
(floor({{fact}}.valid_from / 86400) + 1) * 86400

// fragment: is_event fact
// Whether a fact's relation is an event by the space's ontology.
EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE {{fact}}.relation_key IN o.events }

// fragment: version_is_event version
// The same of a past version; those of older releases have no key of their relation.
EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE coalesce({{version}}.relation_key, toLower({{version}}.name)) IN o.events }

// fragment: lasts_one_day fact
// Whether a fact ends, as it was stated, with the day on which it begins.
{{fact}}.valid_until <= {{end_of_first_day fact}} AND {{fact}}.expired_at IS NULL

// fragment: version_lasts_one_day version
// The same of a past version.
{{version}}.valid_until <= {{end_of_first_day version}} AND coalesce({{version}}.stated_until, {{version}}.valid_until) <= {{version}}.valid_until

// fragment: holds_as_event fact
// Whether a fact is an event, and the requested instant is on its day: an event holds for its whole day.
$p.since = $p.until AND {{lasts_one_day fact}}
AND {{is_event fact}}

// fragment: version_holds_as_event version
// The same of a past version.
$p.since = $p.until AND {{version_lasts_one_day version}}
AND {{version_is_event version}}

// fragment: is_past_event fact
// Whether a fact is an event without an end, whose day is over; where only lasting facts are asked for.
$p.lasting AND {{fact}}.valid_until >= $p.open AND $p.since >= {{end_of_first_day fact}}
AND {{is_event fact}}

// fragment: version_is_past_event version
// The same of a past version.
$p.lasting AND {{version}}.valid_until >= $p.open AND $p.since >= {{end_of_first_day version}}
AND {{version_is_event version}}

// fragment: lasts_but_does_not_hold fact
// Whether a fact of more than a day does not hold at the requested time.
{{fact}}.group_id = $p.space AND ({{fact}}.valid_from > $p.until OR {{fact}}.valid_until <= $p.since)
AND {{fact}}.valid_until > {{end_of_first_day fact}}

// fragment: cited_documents
// The episode `uuid` as a citation: its document, title and source.
MATCH (p:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p)
RETURN collect([uuid, d.document_id, coalesce(d.title, p.name), coalesce(d.source, p.source_description)]) AS cited

// fragment: citations_of fact
// A fact's first citations.
CALL ({{fact}}) {
UNWIND {{fact}}.episodes[..$p.citations] AS uuid
{{cited_documents}}
}

// fragment: facts_with_citations
// The facts `e` from `a` to `b` as rows.
{{citations_of e}}
RETURN collect([[e.uuid, e.fact, e.name, a.uuid, a.name, labels(a), b.uuid, b.name, labels(b), e.valid_at, e.invalid_at, e.created_at,
coalesce(e.origin, 'extracted'),
{{is_event e}}],
cited, [key IN coalesce(e.attribute_names, []) | [key, e[key]]]]) AS facts

// fragment: names_given_by parameter
// The names of the entities that a parameter gives by name and type.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.{{parameter}}.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type)
WHERE k.type >= '' AND ($p.{{parameter}}.type = '' OR k.type = $p.{{parameter}}.type)

// fragment: each_anchor
// The entities that the question is about, one per row.
CALL () {
{{names_given_by anchor}}
RETURN k.entity_uuid AS uuid
UNION
UNWIND $p.anchor.uuids AS uuid
RETURN uuid
}

// fragment: other_entities
// The entities that must be at the other end.
CALL () {
{{names_given_by other}}
RETURN collect(k.entity_uuid) + $p.other.uuids AS others
}

// fragment: event_relations
// The keys of the relations that are events by the space's ontology.
CALL () {
OPTIONAL MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id)
RETURN coalesce(o.events, []) AS events
}

// fragment: has_not_ended fact
// Whether a fact ends after the requested time, or is an event on its day; follows `event_relations`. A CASE, because OR
// is multiplied out when a query is planned, which is slow after a start.
CASE WHEN coalesce({{fact}}.valid_until, $p.open) > $p.since THEN true
ELSE $p.since = $p.until AND {{lasts_one_day fact}} AND {{fact}}.relation_key IN events END

// fragment: space_state space
// The space's revision, and the model of its vectors.
OPTIONAL MATCH ({{space}}:BraidSpace {group_id: $p.space}) USING INDEX SEEK {{space}}:BraidSpace(group_id)
RETURN coalesce({{space}}.revision, 0) AS revision, coalesce({{space}}.vectors, 0) AS vectors, coalesce({{space}}.embedding_model, '') AS model,
coalesce({{space}}.embedding_dimension, 0) AS dimension

// fragment: names_whose_fact_does_not_hold
// Pairs of the first names in a sentence `s` between which a lasting fact does not hold at the requested time.
WITH [s.subject_uuid] + s.target_uuids[..16] AS names
UNWIND range(0, size(names) - 2) AS i
UNWIND names[i + 1..] AS other
MATCH (a:Entity {uuid: names[i]}) USING INDEX SEEK a:Entity(uuid)
MATCH (b:Entity {uuid: other}) USING INDEX SEEK b:Entity(uuid)
WITH DISTINCT a, b
MATCH (a)-[x:RELATES_TO]-(b)
WHERE {{lasts_but_does_not_hold x}}

// fragment: holds fact
// Whether a fact holds at some instant of the requested time.
{{fact}}.valid_from <= $p.until AND ({{fact}}.valid_until > $p.since
OR {{holds_as_event fact}})

// fragment: holds_with_lasting fact
// The same; where only lasting facts are asked for, an event does not hold after its day.
{{fact}}.valid_from <= $p.until AND ({{fact}}.valid_until > $p.since
OR NOT $p.lasting AND {{holds_as_event fact}})
AND NOT ({{is_past_event fact}})

// fragment: version_holds version
// The same of a past version.
{{version}}.valid_from <= $p.until AND ({{version}}.valid_until > $p.since
OR {{version_holds_as_event version}})

// fragment: versions_with_citations
// The versions `one` of facts as rows; `prefix` begins the names of their attributes.
OPTIONAL MATCH (a:Entity {uuid: source}) USING INDEX SEEK a:Entity(uuid)
OPTIONAL MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
OPTIONAL MATCH ()-[e:RELATES_TO {uuid: fact}]->() USING INDEX SEEK e:RELATES_TO(uuid)
CALL (one, e) {
UNWIND coalesce(e.episodes, [one.episode_uuid])[..$p.citations] AS uuid
{{cited_documents}}
}
RETURN collect([[fact, one.fact, one.name, source, coalesce(a.name, one.source_name, ''), coalesce(labels(a), [one.source_type]), target,
coalesce(b.name, one.target_name, ''), coalesce(labels(b), [one.target_type]), one.valid_at, one.invalid_at, one.created_at, coalesce(one.origin, 'given'),
{{version_is_event one}}],
cited, [key IN coalesce(one.attribute_names, []) | [key, one[prefix + key]]]]) AS facts

// fragment: fact_as_version
// A fact's current state as one of its versions.
RETURN e AS one, e.uuid AS fact, e.source_node_uuid AS source, e.target_node_uuid AS target, '' AS prefix

// fragment: past_version
// A past version.
RETURN v AS one, v.fact_uuid AS fact, v.source_uuid AS source, v.target_uuid AS target, 'a_' AS prefix

// fragment: type_until entity instant
// An entity's type as it was at an instant: a type that it had until later, else its label.
coalesce([i IN range(0, size(coalesce({{entity}}.braid_types, [])) - 1) WHERE {{entity}}.braid_types_until[i] > {{instant}} | {{entity}}.braid_types[i]][0], [l IN labels({{entity}}) WHERE l <> 'Entity'][0], '')
