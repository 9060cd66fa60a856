-- Sets the user whose rows the transaction sees, and the scope if it sees more.
select set_config('braid.space', $1, true), set_config('braid.user', $2, true), set_config('braid.memory_scope', $3, true)
