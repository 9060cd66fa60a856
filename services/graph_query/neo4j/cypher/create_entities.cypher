// Creates entities with their names.
UNWIND $p.rows AS row
CREATE (n:Entity {uuid: row[0], group_id: $p.space, name: row[2], name_source: row[6], summary: '', created_at: $p.now})
CREATE (:EntityName {group_id: $p.space, name_key: row[1], type: row[4], link_key: row[3], entity_uuid: row[0], linked: row[5],
                    mention_rank: 0, title: false})
WITH n, row WHERE row[4] <> ''
SET n:$(row[4])
