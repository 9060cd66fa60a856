-- Records how far jobs were read, and the outcome of their documents; a job that has ended meanwhile remains ended.
update job set
  position = told.position, read_offset = told.read_offset, read_line = told.read_line, read_position = told.position, read = job.read or told.read, takes = 0, waiting_for = '', update_time = now(),
  documents_total = case when told.read then told.total else job.documents_total end,
  documents_searchable = documents_searchable + told.searchable,
  documents_unchanged = documents_unchanged + told.unchanged,
  documents_failed = documents_failed + told.failed,
  chunks_written = chunks_written + told.chunks,
  warning_count = warning_count + told.warnings,
  searchable_time = case when told.searchable > 0 then now() else searchable_time end
from unnest($1::uuid[], $2::int[], $3::bool[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[],
    $9::int[], $10::int[], $11::int[])
  as told (id, position, read, total, searchable, unchanged, failed, chunks, read_offset, read_line, warnings)
where job.id = told.id
