// Creates sentences and their co-occurrences.
UNWIND $p.rows AS row
CREATE (:BraidSentence {uuid: row[0], group_id: $p.space, episode_uuid: row[1], ordinal: row[2], text: row[3],
                        subject_uuid: row[4], target_uuids: row[5], valid_from: row[6], valid_until: row[7], gaps: row[8],
                        braid_words: row[9]})
WITH row
MATCH (a:Entity {uuid: row[4]}) USING INDEX SEEK a:Entity(uuid)
UNWIND row[5] AS target
MATCH (b:Entity {uuid: target}) USING INDEX SEEK b:Entity(uuid)
CREATE (a)-[:CO_OCCURS {sentence_uuid: row[0], valid_from: row[6], valid_until: row[7], gaps: row[8]}]->(b)
