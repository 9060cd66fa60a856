-- Removes documents from the graph's queue; those deleted meanwhile stay, so that they are removed from the graph.
delete from document where number = any($1::bigint[]) and (not gone or number = any($2::bigint[])) returning number
