// Deletes sentences and their co-occurrences.
UNWIND $p.rows AS row
MATCH (s:BraidSentence {uuid: row[0]}) USING INDEX SEEK s:BraidSentence(uuid)
DELETE s
WITH row
MATCH (a:Entity {uuid: row[1]}) USING INDEX SEEK a:Entity(uuid)
UNWIND row[2] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
MATCH (a)-[r:CO_OCCURS]->(b) WHERE r.sentence_uuid = row[0]
DELETE r
