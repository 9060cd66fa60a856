"""How Braid is run: the local stack, images and manifests."""
