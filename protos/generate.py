"""Compile the protos to Python: `python protos/generate.py` writes protos/gen."""

import os
import shutil
import sys
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
OUT = ROOT / "gen"


def sources() -> list[Path]:
    """Every .proto file of the project, in a stable order."""
    return sorted((ROOT / "zocrates").rglob("*.proto"))


def generate() -> None:
    """Replace protos/gen by fresh modules and stubs; raises SystemExit with protoc's code."""
    # protoc looks for its plugins on PATH; they were installed beside this interpreter.
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    bundled = resources.files("grpc_tools") / "_proto"
    code = protoc.main(
        [
            "protoc",
            f"-I{ROOT}",
            f"-I{bundled}",
            f"--python_out={OUT}",
            f"--grpc_python_out={OUT}",
            f"--mypy_out=quiet:{OUT}",
            f"--mypy_grpc_out=quiet:{OUT}",
            *(str(path.relative_to(ROOT)) for path in sources()),
        ]
    )
    if code != 0:
        raise SystemExit(code)
    for folder in {OUT / "zocrates", *(path.parent for path in OUT.rglob("*_pb2.py"))}:
        for package in (folder, *folder.parents):
            if package == OUT:
                break
            (package / "__init__.py").write_text('"""Generated from protos; do not edit."""\n')
    (OUT / "zocrates" / "py.typed").touch()


if __name__ == "__main__":
    generate()
