"""The endpoints, their schema, middleware and logging."""
