-- Whether run $1 of user $3 in space $2 has ended, or was interrupted: its lease expired before it ended.
select end_time is not null as ended, end_time is null and lease_expire_time < now() as interrupted, kept
from agent_run where id = $1 and space = $2 and user_name = $3
