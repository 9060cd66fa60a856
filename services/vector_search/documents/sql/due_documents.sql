-- Documents with a version that has come into force since the flags were last updated.
select distinct document_id from document_version
where space = $1 and pending and valid_from <= now()
