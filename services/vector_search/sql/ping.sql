-- Whether the schema is there: its last migration's number.
select max(number) from schema_migration
