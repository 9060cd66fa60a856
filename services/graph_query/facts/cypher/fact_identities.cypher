// name: copy_sources
// Moves the records of facts' sources to the facts that replace them.
UNWIND $p.rows AS row
MATCH (s:BraidFactSource {fact_uuid: row.from}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
MERGE (t:BraidFactSource {group_id: $p.space, source: s.source, fact_uuid: row.uuid})
ON CREATE SET t.shared = s.shared, t.revision = s.revision

// name: fact_aliases
// Returns the corrected facts that the given uuids identify.
UNWIND $p.uuids AS identity
MATCH (x:BraidFactAlias {group_id: $p.space, identity: identity}) USING INDEX SEEK x:BraidFactAlias(group_id, identity)
RETURN identity, x.fact_uuid AS uuid

// name: put_fact_aliases
// Records that a uuid, computed from what a fact states, identifies a fact with another uuid.
UNWIND $p.rows AS row
MERGE (x:BraidFactAlias {group_id: $p.space, identity: row[0]})
SET x.fact_uuid = row[1]

// name: record_sources
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

// name: share_facts
// Notes that facts are also stated without a source.
UNWIND $p.uuids AS uuid
MATCH (s:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
SET s.shared = true
