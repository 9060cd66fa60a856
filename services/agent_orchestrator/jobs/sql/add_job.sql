-- Accepts a job; no row if it was accepted before.
insert into job (id, space, user_name, request_id, kind, arguments, input_hash, size, documents_total, read)
values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $5 <> 'upload')
on conflict do nothing
returning *
