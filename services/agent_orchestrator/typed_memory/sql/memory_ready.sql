-- Makes a memory visible: the vector tier has it, and the graph too unless $4 says what is still to be stored there.
update memory set ready = true, waiting_relations = $4 where space = $1 and user_id = $2 and id = $3
