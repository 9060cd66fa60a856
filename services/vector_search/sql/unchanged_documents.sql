-- Documents whose version in force has the given content hash.
select v.document_id
from unnest($2::text[], $3::text[]) as u (document_id, content_hash)
join document_version v on v.space = $1 and v.document_id = u.document_id
where v.content_hash = u.content_hash and v.valid_from <= now() and v.valid_until > now()
order by v.document_id
