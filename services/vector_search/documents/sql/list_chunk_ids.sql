-- A page of the space's chunks by id, including those of former versions.
select id, document_id from chunk
where space = $1 and ($2::uuid is null or id > $2)
order by id
limit $3
