// Returns a standing fact with its stated end and its claims.
MATCH (a)-[e:RELATES_TO {uuid: $p.uuid}]->(b) USING INDEX SEEK e:RELATES_TO(uuid) WHERE e.group_id = $p.space
RETURN a.uuid AS source, a.name AS source_name, labels(a) AS source_labels, b.uuid AS target, b.name AS target_name, labels(b) AS target_labels,
  e.name AS relation, e.fact AS fact, e.valid_at AS valid_at, e.invalid_at AS invalid_at, coalesce(e.origin, 'extracted') AS origin,
  coalesce(e.stated_until, e.valid_until) AS stated_until, CASE WHEN e.stated_until IS NULL THEN e.invalid_at ELSE e.stated_at END AS stated_at,
  e.fact_embedding IS NOT NULL AS embedded, [key IN coalesce(e.attribute_names, []) | [key, e[key]]] AS attributes
