-- Whether a space has documents that wait for the graph.
select exists (select from document where space = $1)
