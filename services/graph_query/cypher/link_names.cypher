// Marks names as ones that text is linked to.
UNWIND $keys AS key
MATCH (k:EntityName {group_id: $space, name_key: key}) WHERE k.type >= ''
SET k.linked = true
