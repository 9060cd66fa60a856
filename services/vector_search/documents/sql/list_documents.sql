-- A page of documents by id, each in its version in force.
select v.document_id, v.title, v.source, v.metadata, v.version, v.valid_from, v.known_from, v.chunk_count
from document_version v
where v.space = $1 and v.document_id > $2 and v.valid_from <= now() and v.valid_until > now()
order by v.document_id
limit $3
