"""Facts in valid time and in knowledge time: lists, histories, snapshots, differences and versions."""
