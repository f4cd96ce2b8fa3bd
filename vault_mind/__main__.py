"""`python -m vault_mind`: the same as `vault-mind`."""

from vault_mind.cli import app

app(prog_name="vault-mind")
