// Takes sentences and their co-occurrences back.
UNWIND $p.rows AS row
MATCH (s:BraidSentence {uuid: row[0]})
DELETE s
WITH row
MATCH (a:Entity {uuid: row[1]})
UNWIND row[2] AS target
MATCH (b:Entity {uuid: target})
MATCH (a)-[r:CO_OCCURS]->(b) WHERE r.sentence_uuid = row[0]
DELETE r
