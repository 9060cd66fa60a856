-- The user's writes that failed for good, latest first, before the given number.
select number, kind, conversation_id, message_id, failure, attempt_count, create_time, end_time from memory_write
where space = $1 and user_id = $2 and end_time is not null and failure <> '' and payload is not null
  and ($3::bigint is null or number < $3)
order by number desc limit $4
