"""The machine that a measurement was made on, and medians."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles

import psutil


def machine() -> str:
    """One line: processor, cores, memory, system, Python."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0].split(": ")[1] if names else model
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}, Zocrates {version('zocrates')}"
    )


def spread(seconds: Sequence[float], *, digits: int = 0) -> str:
    """Median and 95th percentile in milliseconds."""
    high = quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    p50, p95 = (f"{value * 1000:.{digits}f} ms" for value in (median(seconds), high))
    return f"p50 {p50}, p95 {p95}, n {len(seconds)}"
