"""How the processes are put on a machine: the local stack, images, manifests."""
