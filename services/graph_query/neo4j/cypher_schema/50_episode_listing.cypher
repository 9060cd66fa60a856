// Episodes of a space by uuid.
CREATE INDEX braid_episode_listing IF NOT EXISTS FOR (n:Episodic) ON (n.group_id, n.uuid)
