// Notes that facts are also stated without a source.
UNWIND $p.uuids AS uuid
MATCH (s:BraidFactSource {fact_uuid: uuid}) USING INDEX SEEK s:BraidFactSource(fact_uuid) WHERE s.group_id = $p.space
SET s.shared = true
