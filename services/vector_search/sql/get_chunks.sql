-- Chunks by id with the version of their document that is in force.
select * from chunks_in_view($1, $2, now())
