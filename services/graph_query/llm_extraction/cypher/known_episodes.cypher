// Episodes by their words.
CALL db.index.fulltext.queryNodes('braid_passage_words', $p.lucene, {limit: 1000}) YIELD node AS found, score
WHERE found.group_id = $p.space
WITH found, score ORDER BY score DESC, found.uuid LIMIT $p.limit
MATCH (e:Episodic {group_id: $p.space, uuid: found.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN e.uuid AS uuid, e.name AS name, e.content AS content, e.source_description AS source, e.created_at AS created_at, e.valid_at AS valid_at
