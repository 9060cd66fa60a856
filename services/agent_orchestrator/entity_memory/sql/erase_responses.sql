-- Erases the responses that are kept for the owner's repeated calls.
delete from idempotency_key where space = $1 and user_id = $2
