-- Clears `pending` of versions in force: the flags reflect them now.
update document_version set pending = false
where space = $1 and document_id = any ($2) and pending and valid_from <= $3
