// Standing facts that a source stated only before a revision, by uuid: their number and the first of them. Also returns
// the space's revision.
OPTIONAL MATCH (b:BraidSpace {group_id: $p.space}) USING INDEX SEEK b:BraidSpace(group_id)
WITH coalesce(b.revision, 0) AS revision
OPTIONAL MATCH (s:BraidFactSource {group_id: $p.space, source: $p.source}) USING INDEX SEEK s:BraidFactSource(group_id, source, fact_uuid)
WHERE s.fact_uuid >= '' AND ($p.first = 0 OR s.revision < $p.first)
  AND EXISTS { MATCH ()-[e:RELATES_TO {uuid: s.fact_uuid}]->() USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space }
WITH revision, s.fact_uuid AS uuid ORDER BY uuid
WITH revision, collect(uuid) AS uuids
RETURN revision, size(uuids) AS total, uuids[..$p.limit] AS uuids
