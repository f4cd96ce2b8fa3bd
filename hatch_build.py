"""Compiles `vault_mind/_scan.c` where there is a compiler; without one the package is as whole, and lists slower."""

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

NAME, SOURCE = "vault_mind._scan", "vault_mind/_scan.c"


class CompiledScan(BuildHookInterface[Any]):
    """Puts the compiled module into the wheel; for an editable installation, beside its source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what was made."""
        self._folder = Path(mkdtemp(prefix="vault-mind-build-"))
        made, why = None, "there is no compiler for it"
        try:
            made = _compiled(Path(self.root), self._folder)
        except Exception as error:  # whatever a compiler does, it costs only speed
            why = str(error)
        if made is None:
            self.app.display_warning(f"{SOURCE} was not compiled, large vaults are listed at half the speed: {why}")
        elif version == "editable":
            shutil.copy(made, Path(self.root, "vault_mind"))
        else:
            build_data["pure_python"], build_data["infer_tag"] = False, True
            build_data["force_include"][str(made)] = f"vault_mind/{made.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Clear up."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _compiled(root: Path, folder: Path) -> Path | None:
    """The module made of the source, in `folder`; None where setuptools found that it cannot be made."""
    module = Extension(NAME, [str(root / SOURCE)], py_limited_api=True, optional=True)
    command = build_ext(Distribution({"name": "vault-mind", "ext_modules": [module]}))
    command.build_lib, command.build_temp = str(folder), str(folder / "objects")
    command.ensure_finalized()
    command.run()
    return next((folder / "vault_mind").glob("_scan.*"), None)
