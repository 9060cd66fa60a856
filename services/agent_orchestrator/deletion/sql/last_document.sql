-- The number of the last document that is on its way to the graph.
select coalesce(max(number), 0) from document
