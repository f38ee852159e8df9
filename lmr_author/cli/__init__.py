"""The command line: it parses, calls a workflow, and prints. Nothing else imports typer or rich."""
