-- Deletes keys that are no longer kept.
delete from idempotency_key where expire_time < now()
