-- Records that the graph has these memories: the ones that were not deleted meanwhile.
update memory set waiting_relations = null where space = $1 and user_id = $2 and id = any($3::uuid[]) and ready
returning id
