"""The program's start and end: `vault-mind`, and `python -m vault_mind`."""

import gc
import os
import sys


def main() -> None:
    """Run the command that the command line names."""
    gc.disable()  # what is loaded now stays, and to look through it again and again takes a tenth of the start
    from vault_mind.cli import app, only  # late: see above

    gc.freeze()
    gc.enable()
    only(sys.argv[1:2])
    try:
        app(prog_name="vault-mind")
    except SystemExit as end:
        _leave(end.code)
        raise


def _leave(code: object) -> None:
    """End at once where nothing is left to do: to take every object apart takes longer than a search."""
    import atexit  # late, as the next: by now they are loaded
    import threading

    if not isinstance(code, int | None) or threading.active_count() > 1:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # Python has words for that
        return
    atexit._run_exitfuncs()
    os._exit(code or 0)


if __name__ == "__main__":
    main()
