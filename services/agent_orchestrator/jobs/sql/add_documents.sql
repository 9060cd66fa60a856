-- Queues searchable documents for the graph, in this order.
insert into document (space, job_id, position, document_id, chunks, episodes)
select $1, told.job_id, told.position, told.document_id, told.chunks, told.episodes
from unnest($2::uuid[], $3::int[], $4::text[], $5::int[], $6::bytea[]) with ordinality
  as told (job_id, position, document_id, chunks, episodes, place)
order by told.place
