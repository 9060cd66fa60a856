// An entity's facts in brief as they were known at an instant, with the ends that they had.
CYPHER 25
UNWIND $p.anchor.uuids AS uuid
CALL (uuid) {
  MATCH (v:FactVersion {source_uuid: uuid})
  WHERE v.target_uuid >= '' AND v.group_id = $p.space AND ($p.anchor.type = '' OR v.source_type IN ['', $p.anchor.type])
  RETURN v
  UNION
  MATCH (v:FactVersion {target_uuid: uuid})
  WHERE v.group_id = $p.space AND ($p.anchor.type = '' OR v.target_type IN ['', $p.anchor.type])
  RETURN v
}
WITH uuid, v
WHERE v.known_from <= $p.known AND v.known_until > $p.known AND ($p.relation = '' OR toLower(v.name) = $p.relation)
WITH uuid, collect(v) AS found
RETURN uuid, [v IN found | [v.fact_uuid, v.name, v.valid_from, v.valid_until, v.created_at.epochSeconds + v.created_at.microsecond / 1000000.0]] AS moments,
  head([v IN found | CASE uuid WHEN v.source_uuid THEN [v.source_name, v.source_type] ELSE [v.target_name, v.target_type] END]) AS known_as
