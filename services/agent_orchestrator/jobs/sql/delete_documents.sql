-- Takes documents off the way to the graph; those deleted meanwhile stay, for the graph to lose what it has of them.
delete from document where number = any($1::bigint[]) and (not gone or number = any($2::bigint[])) returning number
