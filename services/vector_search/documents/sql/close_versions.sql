-- Ends versions where new ones begin.
update document_version v set valid_until = u.valid_until
from unnest($2::text[], $3::integer[], $4::timestamptz[]) as u (document_id, version, valid_until)
where v.space = $1 and v.document_id = u.document_id and v.version = u.version
