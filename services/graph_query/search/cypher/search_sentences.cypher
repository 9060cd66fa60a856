// Sentences of the local graph by their words, with the entities of each, its subject first; the space's state, and
// whether it has stated facts. A sentence is excluded if a stated fact of more than a day between two of its first 17
// entities is not valid at the time; a few more sentences than requested are checked, to replace excluded ones.
CYPHER 25
CALL () {
  OPTIONAL MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
  RETURN coalesce(b.revision, 0) AS revision, coalesce(b.vectors, 0) AS vectors, coalesce(b.embedding_model, '') AS model,
    coalesce(b.embedding_dimension, 0) AS dimension
}
CALL () {
  CALL db.index.fulltext.queryNodes('braid_sentence_terms', $p.lucene, {limit: $p.fetch}) YIELD node AS s, score
  WHERE s.group_id = $p.space AND coalesce(s.valid_until, $p.open) > $p.since AND coalesce(s.valid_from, -$p.open) <= $p.until
    AND (s.gaps IS NULL OR none(i IN range(0, size(s.gaps) - 1, 2) WHERE s.gaps[i] <= $p.since AND s.gaps[i + 1] > $p.until))
    AND ($p.entity_key = '' OR s.subject_uuid IN $p.only OR any(uuid IN s.target_uuids WHERE uuid IN $p.only))
  WITH s, score LIMIT $p.checked
  WHERE NOT EXISTS {
    WITH [s.subject_uuid] + s.target_uuids[..16] AS names
    UNWIND range(0, size(names) - 2) AS i
    UNWIND names[i + 1..] AS other
    MATCH (a:Entity {uuid: names[i]}) USING INDEX SEEK a:Entity(uuid)
    MATCH (b:Entity {uuid: other}) USING INDEX SEEK b:Entity(uuid)
    WITH DISTINCT a, b
    MATCH (a)-[x:RELATES_TO]-(b)
    WHERE x.group_id = $p.space AND (x.valid_from > $p.until OR x.valid_until <= $p.since)
      AND x.valid_until > (floor(x.valid_from / 86400) + 1) * 86400
  }
  WITH s, score ORDER BY score DESC LIMIT $p.limit
  MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {group_id: $p.space, uuid: s.episode_uuid}) USING INDEX SEEK p:Episodic(group_id, uuid)
  CALL (s) {
    UNWIND [s.subject_uuid] + s.target_uuids[..16] AS uuid
    MATCH (n:Entity {uuid: uuid}) USING INDEX SEEK n:Entity(uuid)
    RETURN collect([n.uuid, n.name, labels(n)]) AS named
  }
  WITH score, s, [[p.uuid, d.document_id, d.title, d.source]] AS place, named ORDER BY score DESC, s.uuid
  RETURN collect([score, s.uuid, s.text, place, named, s.valid_from, s.valid_until]) AS sentences
}
RETURN revision, vectors, model, dimension, sentences, EXISTS {
  MATCH ()-[e:RELATES_TO]->() USING INDEX SEEK e:RELATES_TO(group_id, valid_from, uuid)
  WHERE e.group_id = $p.space AND e.valid_from >= -$p.open AND e.uuid >= ''
} AS stated
