// Links questions, and text where requested, to names.
UNWIND $p.rows AS row
MATCH (k:EntityName {group_id: $p.space, name_key: row[0]}) USING INDEX SEEK k:EntityName(group_id, name_key, type) WHERE k.type >= ''
SET k.linked = row[2], k.link_key = row[1]
