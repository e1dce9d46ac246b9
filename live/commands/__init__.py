"""The command line's commands: flags in, one call of the composition root each."""
