"""Who answers: one adapter for each kind of agent, and the directory that finds them by name."""
