"""The operations, a file for each part of the contract."""
