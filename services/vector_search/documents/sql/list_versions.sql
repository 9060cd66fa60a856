-- A page of a document's versions with numbers below $3, latest first. An open end is null.
select v.version, v.title, v.source, v.valid_from, nullif(v.valid_until, 'infinity') as valid_until, v.known_from,
       v.chunk_count
from document_version v
where v.space = $1 and v.document_id = $2 and v.version < $3
order by v.version desc
limit $4
