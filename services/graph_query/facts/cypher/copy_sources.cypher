// Moves the records of facts' sources to the facts that replace them.
UNWIND $p.rows AS row
MATCH (s:BraidFactSource {fact_uuid: row.from}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
MERGE (t:BraidFactSource {group_id: $p.space, source: s.source, fact_uuid: row.uuid})
ON CREATE SET t.shared = s.shared, t.revision = s.revision
