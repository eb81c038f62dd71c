"""`zocrates doctor`: every part in a line, with what is wrong and what to do."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from deploy.data_folder import DataFolder
from deploy.finding import Finding, Verdict, note
from deploy.installation_check import examine_installation
from deploy.run_file import read_run_file
from deploy.running_check import examine_running


def examine(root: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at the installation, and at what runs on this data."""
    data = DataFolder(root=root)
    run = read_run_file(data.run_file)
    yield from examine_installation(root, run, environ)
    if run is None:
        yield note("stack", "nothing runs on this data; start it with: zocrates up")
    else:
        yield from examine_running(data, run)


def report(root: Path, environ: Mapping[str, str]) -> int:
    """Print the findings as they come; the exit code is 1 when something is wrong."""
    is_well = True
    for finding in examine(root, environ):
        print(finding, flush=True)
        is_well = is_well and finding.verdict is not Verdict.WRONG
    return 0 if is_well else 1
