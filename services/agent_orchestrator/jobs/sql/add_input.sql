-- Stores the bytes of an upload.
insert into job_input (job_id, data) values ($1, $2)
