// Records that a source states facts. A fact that was stated before without a source is shared: its source alone does
// not withdraw it.
UNWIND $p.rows AS row
WITH row, row[1] AND NOT EXISTS { MATCH (o:BraidFactSource {fact_uuid: row[0]}) USING INDEX SEEK o:BraidFactSource(fact_uuid) WHERE o.source <> $p.source } AS shared
MERGE (s:BraidFactSource {group_id: $p.space, source: $p.source, fact_uuid: row[0]})
ON CREATE SET s.shared = shared
SET s.revision = $p.revision
