-- Renews the lease of run $1, and that of its conversation, for $2 seconds; returns whether the run must stop.
with renewed as (
  update agent_run set lease_expire_time = now() + make_interval(secs => $2)
  where id = $1 returning id, conversation_id, cancel_requested
), conversation_lease as (
  update conversation c set lease_expire_time = now() + make_interval(secs => $2)
  from renewed r where c.id = r.conversation_id and c.active_run_id = r.id
)
select cancel_requested from renewed
