// Facts by uuid.
CREATE CONSTRAINT braid_fact_uuid IF NOT EXISTS FOR ()-[e:RELATES_TO]-() REQUIRE e.uuid IS UNIQUE
