// Sets the validity of passages, of their sentences and of the co-occurrences in these.
UNWIND $p.rows AS row
MATCH (p:BraidPassage {group_id: $p.space, uuid: row.uuid}) USING INDEX SEEK p:BraidPassage(group_id, uuid)
SET p.valid_from = row.since, p.valid_until = row.until, p.gaps = row.gaps
WITH row
UNWIND row.sentences AS told
MATCH (s:BraidSentence {uuid: told[0]}) USING INDEX SEEK s:BraidSentence(uuid)
SET s.valid_from = row.since, s.valid_until = row.until, s.gaps = row.gaps
WITH row, told
MATCH (a:Entity {uuid: told[1]}) USING INDEX SEEK a:Entity(uuid)
UNWIND told[2] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
MATCH (a)-[r:CO_OCCURS]->(b) WHERE r.sentence_uuid = told[0]
SET r.valid_from = row.since, r.valid_until = row.until, r.gaps = row.gaps
