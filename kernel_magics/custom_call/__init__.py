"""Custom calls: who serves which target on which plugin, registered and replaced while we run."""
