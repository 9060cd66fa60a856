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
