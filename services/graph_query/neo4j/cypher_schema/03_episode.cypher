// Episodes by uuid.
CREATE CONSTRAINT braid_episode_uuid IF NOT EXISTS FOR (n:Episodic) REQUIRE n.uuid IS UNIQUE
