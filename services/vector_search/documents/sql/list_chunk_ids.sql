-- A page of the space's chunks by id, those of former versions included.
select id, document_id from chunk
where space = $1 and ($2::uuid is null or id > $2)
order by id
limit $3
