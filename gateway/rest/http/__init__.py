"""HTTP around the routes: middleware, credentials, errors, calls to the services, event streams."""
