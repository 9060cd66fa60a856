// name: entities_by_link_key
// Returns the known ones of the linking keys, with the names that share each and their entities.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, link_key: key}) USING INDEX SEEK k:EntityName(group_id, link_key)
RETURN key, collect([k.name_key, k.entity_uuid]) AS named

// name: entities_named
// The entities with a name, most mentioned first.
MATCH (k:EntityName {group_id: $p.space, name_key: $p.key}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
       COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
ORDER BY mentions DESC, facts DESC, uuid

// name: entities_titled
// Entities by uuid, and whether each is the title of a document.
UNWIND $p.uuids AS wanted
MATCH (n:Entity {uuid: wanted}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, EXISTS { (n)<-[m:BRAID_MENTIONS]-() WHERE m.kind = $p.about } AS titled

// name: entity_details
// Entities by name or uuid with their other spellings, most mentioned first.
CYPHER 25
{{each_anchor}}
MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
CALL (n) {
  MATCH (n)-[e:RELATES_TO]-() WHERE e.group_id = $p.space AND e.valid_from <= $p.now AND e.valid_until > $p.now
    AND NOT (e.valid_until >= $p.open AND $p.now >= {{end_of_first_day e}}
        AND {{is_event e}})
  RETURN count(DISTINCT e) AS holding
}
CALL (n) {
  MATCH (n)<-[m:BRAID_MENTIONS]-()
  WITH m LIMIT $p.looked_at
  RETURN collect(DISTINCT m.name) AS written
}
CALL (n) {
  MATCH (n)-[e:RELATES_TO]-()
  WITH n, e LIMIT $p.looked_at
  MATCH (c:FactClaim {fact_uuid: e.uuid}) USING INDEX SEEK c:FactClaim(fact_uuid)
  UNWIND c.given AS g
  WITH n, e, split(g, '\t') AS parts
  UNWIND CASE WHEN startNode(e) = n THEN [parts[1]] ELSE [] END + CASE WHEN endNode(e) = n THEN [parts[3]] ELSE [] END AS name
  RETURN collect(DISTINCT name) AS stated
}
WITH n, holding, written, stated, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, COUNT { (n)-[:RELATES_TO]-() } AS facts
RETURN n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary, mentions, holding,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  written + stated AS spellings, n.created_at AS created_at
ORDER BY mentions DESC, facts DESC, uuid

// name: facts_between
// The best fact between the entities of each pair at a time: stated before local, then the latest start. Sentences are
// excluded as in the query `neighbors`.
CYPHER 25
UNWIND $p.pairs AS pair
MATCH (c:Entity {uuid: pair[0]}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space
MATCH (n:Entity {uuid: pair[1]}) USING INDEX SEEK n:Entity(uuid)
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE CASE type(r)
    WHEN 'CO_OCCURS' THEN $p.local AND (r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
      AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until)))
    ELSE r.group_id = $p.space AND {{holds r}} END
  WITH r ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 20
  OPTIONAL MATCH (s:BraidSentence {uuid: r.sentence_uuid}) USING INDEX SEEK s:BraidSentence(uuid)
  WITH r, s WHERE type(r) = 'RELATES_TO' OR NOT EXISTS {
    {{names_whose_fact_does_not_hold}}
  }
  RETURN r, s ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 1
}
CALL (r) {
  WITH r WHERE type(r) = 'RELATES_TO'
  UNWIND r.episodes[..$p.citations] AS uuid
  {{cited_documents}}
}
CALL (r, s) {
  WITH r, s WHERE type(r) = 'CO_OCCURS'
  OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {group_id: $p.space, uuid: s.episode_uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  RETURN collect([s.episode_uuid, d.document_id, d.title, d.source]) AS place
}
RETURN pair, [r.uuid, coalesce(r.fact, s.text), r.name, startNode(r).uuid, startNode(r).name, labels(startNode(r)),
  endNode(r).uuid, endNode(r).name, labels(endNode(r)), coalesce(r.valid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_from END),
  coalesce(r.invalid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_until END), r.created_at,
  CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END,
    EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE CASE type(r) WHEN 'RELATES_TO' THEN r.relation_key END IN o.events }, r.sentence_uuid,
  CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END, [key IN coalesce(r.attribute_names, []) | [key, r[key]]]] AS edge

// name: graph_stats
// Counts of the space's graph.
OPTIONAL MATCH (s:BraidSpace {group_id: $p.space}) USING INDEX SEEK s:BraidSpace(group_id)
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
  RETURN count(n) AS entities, sum(COUNT { (n)-[:RELATES_TO]->() }) AS facts, sum(COUNT { (n)-[:CO_OCCURS]->() }) AS local_facts
}
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid) WHERE n.group_id = $p.space AND n.name >= '' AND n.uuid >= ''
  WITH labels(n) AS labels, count(*) AS number
  RETURN collect([labels, number]) AS types
}
CALL () {
  MATCH (p:BraidPassage) USING INDEX SEEK p:BraidPassage(group_id, uuid) WHERE p.group_id = $p.space AND p.uuid >= ''
  RETURN count(p) AS episodes
}
RETURN coalesce(s.revision, 0) AS revision, s.last_write AS last_write, entities, facts, local_facts, types, episodes

// name: list_entities
// Scans the space's next `scan` entities by name key and uuid after a position; returns up to `limit` matching ones and
// where the scan ended. Neither key depends on an entity's spelling. `titles` null: documents' titles or not.
CALL () {
  MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, name_key, type)
  WHERE k.group_id = $p.space AND k.name_key >= $p.after_key AND k.type >= '' AND (k.name_key > $p.after_key OR k.entity_uuid > $p.after_uuid)
  WITH k ORDER BY k.group_id, k.name_key, k.entity_uuid LIMIT $p.scan
  RETURN collect(k) AS names
}
CALL (names) {
  UNWIND [k IN names WHERE ($p.type = '' OR k.type = $p.type) AND (coalesce($p.titles, false) = false OR k.title)] AS k
  MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
  WITH k, n, coalesce(k.title, false) AND NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (n)<-[:MENTIONS]-() } AS title
  WHERE $p.titles IS NULL OR title = $p.titles
  WITH k, n, title ORDER BY k.name_key, k.entity_uuid LIMIT $p.limit
  RETURN collect({uuid: n.uuid, name: n.name, labels: labels(n), summary: coalesce(n.summary, ''), mentions: -coalesce(k.mention_rank, 0),
    attributes: [key IN coalesce(n.attribute_names, []) | [key, n[key]]], document_title: title, key: k.name_key}) AS entities
}
RETURN size(names) AS seen, [names[-1].mention_rank, names[-1].name_key, names[-1].entity_uuid] AS last, entities

// name: list_entities_by_mentions
// Scans the space's next `scan` entities by mentions (descending), name key and uuid after a position; returns up to
// `limit` matching ones and where the scan ended. `titles` null: documents' titles or not.
CALL () {
  CALL () {
    MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, mention_rank, name_key, entity_uuid)
    WHERE k.group_id = $p.space AND k.mention_rank = $p.after_rank AND k.name_key >= $p.after_key AND k.entity_uuid >= ''
      AND (k.name_key > $p.after_key OR k.entity_uuid > $p.after_uuid)
    WITH k ORDER BY k.group_id, k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
    RETURN k
    UNION ALL
    MATCH (k:EntityName) USING INDEX SEEK k:EntityName(group_id, mention_rank, name_key, entity_uuid)
    WHERE k.group_id = $p.space AND k.mention_rank > $p.after_rank AND k.name_key >= '' AND k.entity_uuid >= ''
    WITH k ORDER BY k.group_id, k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
    RETURN k
  }
  WITH k ORDER BY k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.scan
  RETURN collect(k) AS names
}
CALL (names) {
  UNWIND [k IN names WHERE ($p.type = '' OR k.type = $p.type) AND (coalesce($p.titles, false) = false OR k.title)] AS k
  MATCH (n:Entity {uuid: k.entity_uuid}) USING INDEX SEEK n:Entity(uuid)
  WITH k, n, coalesce(k.title, false) AND NOT EXISTS { (n)-[:RELATES_TO]-() } AND NOT EXISTS { (n)<-[:MENTIONS]-() } AS title
  WHERE $p.titles IS NULL OR title = $p.titles
  WITH k, n, title ORDER BY k.mention_rank, k.name_key, k.entity_uuid LIMIT $p.limit
  RETURN collect({uuid: n.uuid, name: n.name, labels: labels(n), summary: coalesce(n.summary, ''), mentions: -coalesce(k.mention_rank, 0),
    attributes: [key IN coalesce(n.attribute_names, []) | [key, n[key]]], document_title: title, key: k.name_key}) AS entities
}
RETURN size(names) AS seen, [names[-1].mention_rank, names[-1].name_key, names[-1].entity_uuid] AS last, entities

// name: mention_subgraph
// The chunks around some chunks and entities: the seeds, then the chunks reached from them over shared entities, rarer
// ones first, and over these entities' facts. Also the mentions among these chunks, of entities that two of them share
// or that a seed names. A mention is encoded as 4 · the chunk's position + its kind, and all are in one row, as sending
// hundreds of rows takes longer than finding them. Only facts valid at the instant count, and earlier events; facts of
// an entity with more than `max_mentions` facts are not followed.
CYPHER 25
CALL () {
  UNWIND $p.chunks AS uuid
  MATCH (s:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:Episodic(group_id, uuid)
  RETURN s
  UNION
  UNWIND $p.entities AS uuid
  MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid) WHERE n.group_id = $p.space
  CALL (n) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(s) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN s ORDER BY s.uuid LIMIT $p.max_about
    UNION
    WITH n WHERE COUNT { (n)<-[:BRAID_MENTIONS]-() } <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(s)
    RETURN s
    UNION
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= {{end_of_first_day f}})
    UNWIND f.episodes[..$p.max_cited] AS cited
    MATCH (s:Episodic {group_id: $p.space, uuid: cited}) USING INDEX SEEK s:Episodic(group_id, uuid)
    RETURN s
  }
  RETURN s
}
WITH collect(DISTINCT s) AS seeds
WITH seeds, size(seeds) AS begun
CALL (seeds) {
  UNWIND seeds AS o
  RETURN o, 1e9 AS weight
  UNION ALL
  UNWIND seeds AS s
  MATCH (s)-[:BRAID_MENTIONS]->(n)
  WITH n, count(s) AS hits
  WITH n, hits, COUNT { (n)<-[:BRAID_MENTIONS]-() } AS degree
  CALL (n, degree) {
    MATCH (n)<-[m:BRAID_MENTIONS]-(o) WHERE m.kind = $p.about AND $p.max_about > 0
    RETURN o ORDER BY o.uuid LIMIT $p.max_about
    UNION
    WITH n, degree WHERE degree <= $p.max_mentions
    MATCH (n)<-[:BRAID_MENTIONS]-(o)
    RETURN o
    UNION
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= {{end_of_first_day f}})
    UNWIND f.episodes[..$p.max_cited] AS cited
    MATCH (o:Episodic {group_id: $p.space, uuid: cited}) USING INDEX SEEK o:Episodic(group_id, uuid)
    RETURN o
  }
  RETURN o, hits / log(2.0 + degree) AS weight
}
WITH begun, o, sum(weight) AS weight ORDER BY weight DESC, o.uuid LIMIT $p.limit
WITH begun, collect(o) AS found
CALL (begun, found) {
  UNWIND range(0, size(found) - 1) AS place
  WITH begun, place, found[place] AS o
  MATCH (o)-[m:BRAID_MENTIONS]->(n)
  WITH begun, n, collect(4 * place + m.kind) AS rows
  WHERE size(rows) > 1 OR rows[0] < 4 * begun
  CALL (n) {
    WITH n WHERE COUNT { (n)-[:RELATES_TO]-() } <= $p.max_mentions
    MATCH (n)-[f:RELATES_TO]-() WHERE f.group_id = $p.space AND f.valid_from <= $p.at
      AND (f.valid_until > $p.at OR f.valid_until <= {{end_of_first_day f}})
    RETURN collect([f.name, f.uuid, f.episodes[..$p.max_cited]]) AS facts
  }
  RETURN collect([n.uuid, n.name, labels(n), COUNT { (n)<-[:BRAID_MENTIONS]-() },
    any(row IN rows WHERE row % 4 = $p.about) OR EXISTS { (n)<-[x:BRAID_MENTIONS]-() WHERE x.kind = $p.about }, rows, facts]) AS entities
}
RETURN begun, [o IN found | o.uuid] AS episodes, entities

// name: neighbors
// An entity's neighbors at a time: their number, and the first by stated facts, number of facts, name. A co-occurrence
// without a version is valid at any time; facts of a space join entities of that space alone. To rank thousands of
// neighbors quickly, properties are read early, names only of neighbors that may be shown, and each kind of edge is
// checked by its own properties. A sentence is excluded if a stated fact of more than a day between two of its first 17
// names is not valid at the time; this is checked for the first twenty of a neighbor's edges.
MATCH (c:Entity {uuid: $p.uuid}) USING INDEX SEEK c:Entity(uuid) WHERE c.group_id = $p.space
CALL (c) {
  CALL (c) {
    MATCH (c)-[r:RELATES_TO]-(n)
    WITH n, r, r {.valid_until, .valid_from} AS held
    WITH n, held, held.valid_until IS NULL OR held.valid_from <= $p.until AND (held.valid_until > $p.since
      OR $p.since = $p.until AND held.valid_until <= {{end_of_first_day held}} AND r.expired_at IS NULL
          AND {{is_event r}}) AS holds
    RETURN n, CASE WHEN holds THEN 1 ELSE 0 END AS stated, 0 AS said,
      CASE WHEN holds OR held.valid_until <= {{end_of_first_day held}} THEN 0 ELSE 1 END AS lost
    UNION ALL
    MATCH (c)-[r:CO_OCCURS]-(n)
    WITH n, r {.valid_until, .valid_from, .gaps} AS held
    WHERE (held.valid_until IS NULL OR held.valid_until > $p.since AND held.valid_from <= $p.until)
      AND (held.gaps IS NULL OR none(i IN range(0, size(held.gaps) - 1, 2) WHERE held.gaps[i] <= $p.since AND held.gaps[i + 1] > $p.until))
    RETURN n, 0 AS stated, 1 AS said, 0 AS lost
  }
  WITH n, sum(stated) AS stated, sum(said) AS said, max(lost) AS lost WHERE n <> c
  WITH n, CASE WHEN stated > 0 THEN 1000000000 + stated ELSE 0 END + CASE lost WHEN 0 THEN said ELSE 0 END AS weight WHERE weight > 0
  WITH weight, collect(n) AS alike ORDER BY weight DESC
  RETURN collect([weight, alike]) AS ranks, sum(size(alike)) AS total
}
CALL (ranks) {
  UNWIND reduce(found = [0, []], rank IN ranks |
    CASE WHEN found[0] < $p.limit THEN [found[0] + size(rank[1]), found[1] + [rank]] ELSE found END)[1] AS rank
  UNWIND rank[1] AS n
  WITH n, rank[0] AS weight ORDER BY weight DESC, n.name, n.uuid LIMIT $p.limit
  RETURN collect(n) AS shown
}
UNWIND range(0, size(shown) - 1) AS place
WITH c, total, place, shown[place] AS n
CALL (c, n) {
  MATCH (c)-[r:RELATES_TO|CO_OCCURS]-(n)
  WHERE (r.valid_until IS NULL OR r.valid_from <= $p.until AND (r.valid_until > $p.since OR type(r) = 'RELATES_TO'
    AND {{holds_as_event r}}))
    AND (type(r) = 'CO_OCCURS' OR r.group_id = $p.space)
  WITH r, CASE type(r) WHEN 'CO_OCCURS' THEN r.gaps END AS gaps
  WHERE gaps IS NULL OR none(i IN range(0, size(gaps) - 1, 2) WHERE gaps[i] <= $p.since AND gaps[i + 1] > $p.until)
  WITH r ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 20
  OPTIONAL MATCH (s:BraidSentence {uuid: r.sentence_uuid}) USING INDEX SEEK s:BraidSentence(uuid)
  WITH r, s WHERE type(r) = 'RELATES_TO' OR NOT EXISTS {
      {{names_whose_fact_does_not_hold}}
    }
  WITH r, s ORDER BY type(r) DESC, coalesce(r.valid_from, -$p.open) DESC, coalesce(r.uuid, r.sentence_uuid) LIMIT 3
  CALL (r) {
    WITH r WHERE type(r) = 'RELATES_TO'
    UNWIND r.episodes[..$p.citations] AS uuid
    {{cited_documents}}
  }
  CALL (r, s) {
    WITH r, s WHERE type(r) = 'CO_OCCURS'
    OPTIONAL MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {group_id: $p.space, uuid: s.episode_uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
    RETURN collect([s.episode_uuid, d.document_id, d.title, d.source]) AS place
  }
  RETURN collect([r.uuid, coalesce(r.fact, s.text), r.name, startNode(r).uuid, startNode(r).name, labels(startNode(r)),
    endNode(r).uuid, endNode(r).name, labels(endNode(r)), coalesce(r.valid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_from END),
    coalesce(r.invalid_at, CASE WHEN type(r) = 'CO_OCCURS' THEN r.valid_until END), r.created_at,
    CASE WHEN type(r) = 'CO_OCCURS' THEN 'local' ELSE coalesce(r.origin, 'extracted') END,
    EXISTS { MATCH (o:BraidOntology {group_id: $p.space}) USING INDEX SEEK o:BraidOntology(group_id) WHERE CASE type(r) WHEN 'RELATES_TO' THEN r.relation_key END IN o.events }, r.sentence_uuid,
    CASE WHEN type(r) = 'CO_OCCURS' THEN place ELSE cited END]) AS edges
}
RETURN total, place, n.uuid AS uuid, n.name AS name, labels(n) AS labels, coalesce(n.summary, '') AS summary,
  [key IN coalesce(n.attribute_names, []) | [key, n[key]]] AS attributes,
  COUNT { (n)<-[:BRAID_MENTIONS]-() } AS mentions, edges
ORDER BY place

// name: path_steps
// From entities to their neighbors at a time. A co-occurrence is ignored if a stated fact of more than a day joins the
// same entities at another time.
UNWIND $p.uuids AS uuid
MATCH (n:Entity {uuid: uuid})-[r:RELATES_TO|CO_OCCURS]-(m:Entity) USING INDEX SEEK n:Entity(uuid)
WHERE n.group_id = $p.space AND m <> n AND CASE type(r)
  WHEN 'CO_OCCURS' THEN $p.local AND (r.valid_until IS NULL OR r.valid_until > $p.since AND r.valid_from <= $p.until
    AND (r.gaps IS NULL OR none(i IN range(0, size(r.gaps) - 1, 2) WHERE r.gaps[i] <= $p.since AND r.gaps[i + 1] > $p.until)))
    AND NOT EXISTS {
      MATCH (n)-[x:RELATES_TO]-(m)
      WHERE {{lasts_but_does_not_hold x}}
    }
  ELSE r.group_id = $p.space AND {{holds r}} END
WITH DISTINCT uuid, m LIMIT $p.limit
RETURN collect([uuid, m.uuid, COUNT { (m)-[:RELATES_TO]-() }]) AS steps

// name: subgraph_details
// Returns documents and titles of some chunks, and the sentences in which they name entities.
CYPHER 25
UNWIND $p.episodes AS uuid
MATCH (o:Episodic {group_id: $p.space, uuid: uuid}) USING INDEX SEEK o:Episodic(group_id, uuid)
MATCH (b:BraidPassage {group_id: $p.space, uuid: uuid}) USING INDEX SEEK b:BraidPassage(group_id, uuid)
CALL (o) {
  MATCH (o)-[m:BRAID_MENTIONS]->(n)
  RETURN collect([n.uuid, m.sentences]) AS named
}
RETURN uuid, b.document_id AS document_id, b.title AS title, named
