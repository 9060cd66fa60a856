// Creates episodes, with Braid's own properties in addition to Graphiti's.
UNWIND $p.rows AS row
MATCH (d:Document {uuid: row.document}) USING INDEX SEEK d:Document(uuid)
CREATE (e:Episodic {uuid: row.uuid, group_id: $p.space, name: row.title, source: 'text', source_description: row.source,
                    content: row.content, entity_edges: [], created_at: $p.now, valid_at: coalesce(row.reference_time, $p.now)})
CREATE (:BraidPassage {uuid: row.uuid, group_id: $p.space, document_id: row.document_id, title: row.title, words: row.words,
                       starts: row.starts, own_start: row.own_start, valid_from: row.period[0], valid_until: row.period[1], gaps: row.period[2]})
CREATE (d)-[:HAS_EPISODE]->(e)
