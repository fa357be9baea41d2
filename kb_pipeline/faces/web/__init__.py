"""The server: pages for people and a JSON API for automations, over the verbs alone."""
