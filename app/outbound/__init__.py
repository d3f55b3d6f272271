"""What goes out to addresses that callers name, and the guard that every such address passes."""
