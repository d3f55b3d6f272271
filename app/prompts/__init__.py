"""What agents are asked: templates by language and format, and nothing else."""
