"""Facts over both clocks: lists, histories, snapshots, differences and versions."""
