-- The number of the schema's last migration; fails without a schema.
select max(number) from schema_migration
