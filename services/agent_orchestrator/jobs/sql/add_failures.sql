-- Lists documents that could not be ingested, with the reason; a later reason replaces an earlier one.
insert into job_failure (job_id, position, space, document_id, stage, reason)
select told.job_id, told.position, $1, told.document_id, $2, told.reason
from unnest($3::uuid[], $4::int[], $5::text[], $6::text[]) as told (job_id, position, document_id, reason)
on conflict (job_id, position) do update
  set document_id = excluded.document_id, stage = excluded.stage, reason = excluded.reason, again = false, create_time = now()
