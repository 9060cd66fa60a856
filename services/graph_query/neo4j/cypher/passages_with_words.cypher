// Passages of the space that contain any of the given word sequences.
CALL db.index.fulltext.queryNodes('braid_passage_words', $p.lucene) YIELD node AS p
WHERE p.group_id = $p.space
MATCH (e:Episodic {group_id: $p.space, uuid: p.uuid}) USING INDEX SEEK e:Episodic(group_id, uuid)
RETURN p.uuid AS uuid, p.document_id AS document_id, p.title AS title, e.source_description AS source, e.content AS content,
       p.starts AS starts, p.own_start AS own_start, p.valid_from AS since, p.valid_until AS until, p.gaps AS gaps
