// Deletes the given names and episodes that no finding is linked to any more.
CALL () {
  UNWIND $p.subjects AS subject
  MATCH (s:BraidSubject {group_id: $p.space, name_key: subject[0], type: subject[1]}) USING INDEX SEEK s:BraidSubject(group_id, name_key, type)
  RETURN s
  UNION
  UNWIND $p.episodes AS uuid
  MATCH (s:BraidSource {group_id: $p.space, uuid: uuid}) USING INDEX SEEK s:BraidSource(group_id, uuid)
  RETURN s
}
WITH s WHERE NOT EXISTS { (s)<--() }
DELETE s
