-- Records what was not taken of documents. A document that is read again replaces none of its warnings.
insert into job_warning (job_id, position, number, document_id, reason, notice, place)
select * from unnest($1::uuid[], $2::int[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[])
on conflict do nothing
