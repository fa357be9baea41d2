"""From items to pages of a wiki: which pages there are, what stands on them, and what of them is a person's. Pure."""
