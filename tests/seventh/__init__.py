"""A seventh format, thrown away after the tests: it shows that nothing in app/ names the others."""
