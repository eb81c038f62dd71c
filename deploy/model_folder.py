"""Where the exported models are; cheap to import."""

import os
import sys
from pathlib import Path

import platformdirs

FOLDER_VARIABLE = "ZOCRATES_MODELS"


def models_folder() -> Path:
    """The folder of the exported models.

    `ZOCRATES_MODELS` if set, else beside the installation if that can be written (or already holds
    them), else in the user's data folder.
    """
    configured = os.environ.get(FOLDER_VARIABLE)
    if configured:
        return Path(configured).expanduser().absolute()
    beside = Path(sys.prefix) / "share" / "zocrates" / "models"
    if beside.is_dir() or _creatable(beside):
        return beside
    return Path(platformdirs.user_data_dir("zocrates", appauthor=False)) / "models"


def _creatable(folder: Path) -> bool:
    existing = next(parent for parent in folder.parents if parent.exists())
    return os.access(existing, os.W_OK | os.X_OK)
