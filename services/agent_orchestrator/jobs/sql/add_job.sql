-- Accepts a job; no row if the same request was accepted with the same input before.
insert into job (id, space, user_name, request_id, kind, arguments, input_hash, size, documents_total, read)
values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $5 <> 'upload')
on conflict (space, request_id, input_hash) where request_id <> '' do nothing
returning *
