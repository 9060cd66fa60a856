-- Idempotency keys identify repeated uploads; request ids only name calls in logs.
drop index job_request;
