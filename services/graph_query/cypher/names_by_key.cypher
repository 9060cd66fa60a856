// The types of the given names, and whether questions are linked to them; in one row, as rows take the driver time.
UNWIND $p.keys AS key
MATCH (k:EntityName {group_id: $p.space, name_key: key}) WHERE k.type >= ''
RETURN collect([key, k.type, k.link_key IS NOT NULL]) AS names
