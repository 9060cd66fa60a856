// Returns the entities without connections from a page of the space's entities, by name and uuid, after a position.
CALL () {
  MATCH (n:Entity) USING INDEX SEEK n:Entity(group_id, name, uuid)
  WHERE n.group_id = $p.space AND n.name >= $p.after_name AND n.uuid >= '' AND (n.name > $p.after_name OR n.uuid > $p.after_uuid)
  WITH n ORDER BY n.group_id, n.name, n.uuid LIMIT $p.limit
  RETURN [n.name, n.uuid] AS place, NOT EXISTS { (n)--() } AS alone
}
WITH collect([place, alone]) AS page
RETURN size(page) AS seen, page[-1][0] AS last, [one IN page WHERE one[1] | [one[0][1], one[0][0]]] AS unjoined
