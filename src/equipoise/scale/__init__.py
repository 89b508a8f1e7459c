"""Scale: engines, cells of work that survive a kill, and votes on disk."""
