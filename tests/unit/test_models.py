"""Where models are, and when an export is made again."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from deploy import models
from deploy.model_export import ExportFailed, replacing
from deploy.model_folder import FOLDER_VARIABLE, models_folder

SOURCE: dict[str, object] = {"package": "x 1", "weights_bytes": 3, "export_version": 1}


def exported(folder: Path, source: dict[str, object] = SOURCE) -> Path:
    folder.mkdir(parents=True)
    (folder / models.NETWORK).write_bytes(b"net")
    (folder / models.SMALL_NETWORK).write_bytes(b"n8")
    (folder / models.TOKENIZER).write_bytes(b"{}")
    sizes = {models.NETWORK: 3, models.SMALL_NETWORK: 2, models.TOKENIZER: 2}
    manifest = {"source": source, "bytes": sizes}
    (folder / models.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "mine"))
    assert models_folder() == tmp_path / "mine"


def test_the_folder_is_beside_the_installation_where_that_can_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert models_folder() == tmp_path / "share" / "zocrates" / "models"


def test_the_folder_is_the_users_where_the_installation_is_read_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("deploy.model_folder.os.access", lambda path, mode: False)
    assert tmp_path not in models_folder().parents
    assert models_folder().name == "models"


def test_a_whole_export_of_the_same_source_is_current(tmp_path: Path) -> None:
    folder = exported(tmp_path / "embedding")
    assert models.is_current(folder, SOURCE)
    assert not models.is_current(folder, {**SOURCE, "export_version": 2})


@pytest.mark.parametrize("file", [*models.FILES, models.MANIFEST])
def test_an_export_with_a_file_missing_or_cut_is_not(tmp_path: Path, file: str) -> None:
    folder = exported(tmp_path / "embedding")
    (folder / file).write_bytes(b"")
    assert not models.is_current(folder, SOURCE)
    (folder / file).unlink()
    assert not models.is_current(folder, SOURCE)


def test_a_failed_export_leaves_the_old_one(tmp_path: Path) -> None:
    folder = exported(tmp_path / "embedding")
    with suppress(ExportFailed), replacing(folder) as fresh:
        (fresh / "half").write_bytes(b"x")
        raise ExportFailed("no")
    assert models.is_current(folder, SOURCE)
    assert [path.name for path in tmp_path.iterdir()] == ["embedding"]


def test_a_finished_export_takes_the_old_ones_place_whole(tmp_path: Path) -> None:
    folder = exported(tmp_path / "embedding")
    (folder / "old").write_bytes(b"x")
    with replacing(folder) as fresh:
        (fresh / "new").write_bytes(b"x")
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["embedding"]


def test_a_missing_package_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(models, "MODULE", "no_such_weights")
    assert models.main([]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "is not installed" in told
