// Marks names as ones that text is linked to.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, name_key: key}) WHERE k.type >= ''
SET k.linked = true
