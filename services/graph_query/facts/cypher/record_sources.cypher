// Records that a source states facts. A fact that was stated before without a source is shared: its source alone does
// not withdraw it. Returns how many of them the source states for the first time. The space's sources have a revision of
// their own: what states the same again leaves the space as it was.
MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
SET b.source_revision = $p.revision
WITH b
UNWIND $p.rows AS row
WITH row, row[1] AND NOT EXISTS { MATCH (o:BraidFactSource {fact_uuid: row[0]}) USING INDEX SEEK o:BraidFactSource(fact_uuid) WHERE o.source <> $p.source } AS shared
MERGE (s:BraidFactSource {group_id: $p.space, source: $p.source, fact_uuid: row[0]})
ON CREATE SET s.shared = shared, s.created = true
WITH s, coalesce(s.created, false) AS created
SET s.revision = $p.revision
REMOVE s.created
RETURN count(CASE WHEN created THEN 1 END) AS created
