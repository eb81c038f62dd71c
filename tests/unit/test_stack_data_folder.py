import stat
from pathlib import Path

import pytest

from deploy.account import Account, closed_folder
from deploy.data_folder import chosen_root, default_root, lasting_secret, prepare
from deploy.failure import CannotStart
from gateway.location import data_folders


def test_what_is_named_wins_over_the_environment_and_that_over_the_usual(tmp_path: Path) -> None:
    environ = {"ZOCRATES_DATA": str(tmp_path / "variable")}
    assert chosen_root(tmp_path / "named", environ) == tmp_path / "named"
    assert chosen_root(None, environ) == tmp_path / "variable"
    assert chosen_root(None, {}) == default_root()


def test_the_command_line_looks_where_the_stack_keeps_its_data(tmp_path: Path) -> None:
    assert default_root() in list(data_folders({}, None))
    assert list(data_folders({"ZOCRATES_DATA": str(tmp_path)}, None)) == [tmp_path]
    assert list(data_folders({}, tmp_path)) == [tmp_path]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match=r"cannot be written to \(.+\); name another one with"):
        prepare(tmp_path / "file" / "data")


def test_what_the_library_says_is_closed_to_other_users(tmp_path: Path) -> None:
    folder = prepare(tmp_path / "data")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder.logs, folder.indexes)} == {0o700}
    # Whoever knows a name may pass (Postgres under root), nobody may look around.
    assert not stat.S_IMODE(folder.root.stat().st_mode) & 0o066


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.data_folder.LEAST_FREE_BYTES", 2**62)
    with pytest.raises(CannotStart, match=r"Only \d+ MB are free on the disk of"):
        prepare(tmp_path / "data")


def test_a_secret_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    value = lasting_secret(path)
    assert len(value) > 40
    assert lasting_secret(path) == value
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_account_is_stopped_by_the_first_folder_that_is_closed_to_it(tmp_path: Path) -> None:
    stranger = Account(name="stranger", uid=60_001, gid=60_001)
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner, *inner.parents[:-1]):
        if folder.is_relative_to(tmp_path):
            folder.chmod(0o755)
    inner.parent.chmod(0o700)
    assert closed_folder(stranger, inner) in {inner.parent, *tmp_path.parents, tmp_path}
    owner = inner.stat()
    assert closed_folder(Account(name="me", uid=owner.st_uid, gid=owner.st_gid), inner) is None
