// Facts between the given entities, the most similar to a vector first, as Graphiti needs them.
UNWIND $p.sources AS source
MATCH (a:Entity {uuid: source})-[e:RELATES_TO]->(b) USING INDEX SEEK a:Entity(uuid) WHERE e.group_id = $p.space AND b.uuid IN $p.targets
WITH a, e, b, CASE WHEN size(e.fact_embedding) = size($p.vector) THEN vector.similarity.cosine(e.fact_embedding, $p.vector) ELSE 0 END AS score
ORDER BY score DESC, e.created_at DESC, e.uuid LIMIT $p.limit
RETURN e.uuid AS uuid, a.uuid AS source, b.uuid AS target, e.name AS relation, e.fact AS fact, e.episodes AS episodes,
       e.created_at AS created_at, e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.expired_at AS expired_at,
       [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes,
       a.name AS source_name, labels(a) AS source_labels, b.name AS target_name, labels(b) AS target_labels
