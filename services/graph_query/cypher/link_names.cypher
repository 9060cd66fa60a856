// Marks names as ones that text is linked to.
UNWIND $keys AS key
MATCH (k:EntityName {group_id: $space, name_key: key})
SET k.linked = true
