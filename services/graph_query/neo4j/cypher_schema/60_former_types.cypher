// Versions of what is known still had their ends' types, before entities themselves kept until when they were of which type.
MATCH (v:FactVersion) WHERE v.known_until = $open
UNWIND [[v.source_uuid, v.source_type], [v.target_uuid, v.target_type]] AS end
WITH end[0] AS uuid, end[1] AS type, max(v.known_from) AS last
MATCH (n:Entity {uuid: uuid}) WHERE n.braid_types IS NULL AND coalesce([l IN labels(n) WHERE l <> 'Entity'][0], '') <> type
WITH n, type, last ORDER BY last
WITH n, collect(type) AS types, collect(last + 0.000001) AS until
SET n.braid_types = types, n.braid_types_until = until
