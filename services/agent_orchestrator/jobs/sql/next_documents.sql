-- The next documents of a space for the graph, in order: at most $2 documents and $3 chunks, or one document.
select * from (
  select *, sum(chunks) over (order by number) - chunks as before
  from (
    select * from document where space = $1 and not waits_for_deletion(space, document_id, number)
    order by number limit $2
  ) waiting
) counted
where before < $3 order by number
