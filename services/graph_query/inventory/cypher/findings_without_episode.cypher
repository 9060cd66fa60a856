// Returns the findings of a page, by uuid, that come from an episode which does not exist.
CALL () {
  MATCH (f:BraidFinding) USING INDEX SEEK f:BraidFinding(group_id, uuid) WHERE f.group_id = $p.space AND f.uuid > $p.after
  WITH f ORDER BY f.group_id, f.uuid LIMIT $p.limit
  RETURN f.uuid AS uuid, EXISTS { MATCH (f)-[:FROM]->(s:BraidSource) WITH s.uuid AS source
    WHERE NOT EXISTS { MATCH (e:Episodic {group_id: $p.space, uuid: source}) USING INDEX SEEK e:Episodic(group_id, uuid) } } AS lost
}
WITH collect([uuid, lost]) AS page
RETURN size(page) AS seen, page[-1][0] AS last, [one IN page WHERE one[1] | one[0]] AS without
