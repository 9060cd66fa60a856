-- The highest number of a document that waits for the graph.
select coalesce(max(number), 0) from document
