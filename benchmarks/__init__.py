"""How fast and how large the service is: ``make bench``, explained in ``README.md``."""
