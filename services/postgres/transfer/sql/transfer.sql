-- name: export_rows
-- A page of a space's rows in the order of the table's key, each as JSON, with the key.
select exported::text as exported, key::text as key from export_rows($1::text::regclass, $2, $3, $4, $5)

-- name: import_rows
-- Stores exported rows in the space, except those that exist.
select import_rows($1::text::regclass, $2, $3)
