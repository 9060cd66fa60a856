-- The highest recorded revision of a space's graph.
select revision from seen_graph where space = $1
