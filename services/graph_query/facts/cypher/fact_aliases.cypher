// Returns the corrected facts that the given uuids identify.
UNWIND $p.uuids AS identity
MATCH (x:BraidFactAlias {group_id: $p.space, identity: identity}) USING INDEX SEEK x:BraidFactAlias(group_id, identity)
RETURN identity, x.fact_uuid AS uuid
