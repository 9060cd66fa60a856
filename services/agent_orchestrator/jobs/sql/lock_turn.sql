-- Locks a turn if it still belongs to its worker; nobody claims, ends or requests it until the transaction ends.
select 1 from turn where id = $1 and owner = $2 for update
