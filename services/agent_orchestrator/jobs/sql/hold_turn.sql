-- Whether a turn is still its worker's; nobody else takes it, ends it or asks for another until the transaction ends.
select 1 from pgqueuer where id = $1 and queue_manager_id = $2 and status = 'picked' for update
