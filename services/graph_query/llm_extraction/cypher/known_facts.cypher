// The given facts in their order, as Graphiti needs them.
UNWIND $p.uuids AS uuid
MATCH (a)-[e:RELATES_TO {uuid: uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN e.uuid AS uuid, a.uuid AS source, b.uuid AS target, e.name AS relation, e.fact AS fact, e.episodes AS episodes,
       e.created_at AS created_at, e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.expired_at AS expired_at,
       [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes,
       a.name AS source_name, labels(a) AS source_labels, b.name AS target_name, labels(b) AS target_labels
