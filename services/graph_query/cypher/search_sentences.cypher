// Sentences of the local graph by their words, with the entities that each puts together, its subject first.
CYPHER 25
CALL db.index.fulltext.queryNodes('braid_sentence_text', $p.lucene, {limit: $p.fetch}) YIELD node AS s, score
WHERE s.group_id = $p.space AND ($p.entity_key = '' OR s.subject_uuid IN $p.only OR any(uuid IN s.target_uuids WHERE uuid IN $p.only))
WITH s, score LIMIT $p.limit
MATCH (d:Document)-[:HAS_EPISODE]->(p:Episodic {uuid: s.episode_uuid})
CALL (s) {
  UNWIND [s.subject_uuid] + s.target_uuids[..16] AS uuid
  MATCH (n:Entity {uuid: uuid})
  RETURN collect([n.uuid, n.name, labels(n)]) AS named
}
WITH score, s, [[p.uuid, d.document_id, d.title, d.source]] AS place, named ORDER BY score DESC, s.uuid
RETURN collect([score, s.uuid, s.text, place, named]) AS sentences
