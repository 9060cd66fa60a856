-- Whether a turn is still its worker's; nobody claims, ends or requests it until the transaction ends.
select 1 from turn where id = $1 and owner = $2 for update
