// Returns the texts of the given findings that exist.
UNWIND $p.uuids AS uuid
MATCH (e:BraidFinding {uuid: uuid}) USING INDEX SEEK e:BraidFinding(uuid) WHERE e.group_id = $p.space
RETURN uuid, e.statement AS text
