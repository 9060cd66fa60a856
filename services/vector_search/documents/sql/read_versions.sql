-- All versions of documents; an open end is null.
select document_id, version, valid_from, nullif(valid_until, 'infinity') as valid_until, content_hash
from document_version
where space = $1 and document_id = any ($2)
order by document_id, valid_from
