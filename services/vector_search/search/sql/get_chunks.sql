-- Chunks by id with the version of their document that was in force at an instant; null is now.
select * from chunks_in_view($1, $2, coalesce($3, now()))
