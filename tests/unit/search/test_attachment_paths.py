"""Where an attachment's file is looked for, and what is never followed."""

import unicodedata
from pathlib import Path

import pytest

from services.search.library.attachment_paths import Folders
from services.search.library.records import LinkMode, Unread


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "Zotero"
    (folder / "storage" / "ABCD2345").mkdir(parents=True)
    return folder


def locate(
    data_dir: Path,
    stored_path: str,
    mode: LinkMode = LinkMode.IMPORTED_FILE,
    *,
    library: str = "user",
    base_folder: Path | None = None,
) -> tuple[Path | None, Unread | None]:
    folders = Folders(data_dir=data_dir, base_folder=base_folder)
    found = folders.locate(library=library, key="ABCD2345", link_mode=mode, stored_path=stored_path)
    assert bool(found.detail) == (found.unread is not None)
    return found.path, found.unread


@pytest.mark.parametrize("mode", [LinkMode.IMPORTED_FILE, LinkMode.IMPORTED_URL])
def test_a_stored_file_is_in_the_storage_folder_of_its_key(data_dir: Path, mode: LinkMode) -> None:
    file = data_dir / "storage" / "ABCD2345" / "paper.pdf"
    file.touch()
    assert locate(data_dir, "storage:paper.pdf", mode) == (file, None)


def test_a_stored_file_that_is_not_downloaded_is_missing(data_dir: Path) -> None:
    assert locate(data_dir, "storage:paper.pdf") == (None, Unread.FILE_MISSING)


def test_a_stored_file_without_a_name_is_missing(data_dir: Path) -> None:
    assert locate(data_dir, "") == (None, Unread.FILE_MISSING)


@pytest.mark.parametrize(("stored", "on_disk"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_is_found_in_either_unicode_form(data_dir: Path, stored: str, on_disk: str) -> None:
    name = "Löve – Übersicht.pdf"
    file = data_dir / "storage" / "ABCD2345" / unicodedata.normalize(on_disk, name)
    file.touch()
    path, unread = locate(data_dir, "storage:" + unicodedata.normalize(stored, name))
    assert unread is None
    assert path is not None
    assert path.samefile(file)


@pytest.mark.parametrize(
    "name",
    ["../EFGH/other.pdf", "..\\other.pdf", "/etc/hostname", "C:\\x.pdf", "a/../../b", "a\0b"],
)
def test_a_stored_path_may_not_lead_out_of_its_folder(data_dir: Path, name: str) -> None:
    assert locate(data_dir, f"storage:{name}") == (None, Unread.OUTSIDE_LIBRARY)


def test_a_link_out_of_the_folder_is_not_followed(data_dir: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.pdf"
    secret.touch()
    (data_dir / "storage" / "ABCD2345" / "paper.pdf").symlink_to(secret)
    assert locate(data_dir, "storage:paper.pdf") == (None, Unread.OUTSIDE_LIBRARY)


def test_a_folder_of_an_attachment_that_is_a_link_out_of_the_storage_is_not_followed(
    data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "paper.pdf").touch()
    (data_dir / "storage" / "ABCD2345").rmdir()
    (data_dir / "storage" / "ABCD2345").symlink_to(tmp_path / "outside")
    assert locate(data_dir, "storage:paper.pdf") == (None, Unread.OUTSIDE_LIBRARY)


def test_a_storage_that_was_moved_to_another_disk_is_followed(
    data_dir: Path, tmp_path: Path
) -> None:
    (data_dir / "storage").rename(tmp_path / "disk")
    (data_dir / "storage").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "ABCD2345" / "paper.pdf").touch()
    file = data_dir / "storage" / "ABCD2345" / "paper.pdf"
    assert locate(data_dir, "storage:paper.pdf") == (file, None)


def test_a_linked_file_is_where_its_absolute_path_says(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "linked.pdf"
    file.touch()
    assert locate(data_dir, str(file), LinkMode.LINKED_FILE) == (file, None)


def test_a_path_of_another_operating_system_is_missing(data_dir: Path) -> None:
    stored = "relative/only.pdf" if Path("C:\\x").is_absolute() else "C:\\Papers\\linked.pdf"
    assert locate(data_dir, stored, LinkMode.LINKED_FILE) == (None, Unread.FILE_MISSING)


def test_a_linked_file_in_a_group_is_not_followed(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "linked.pdf"
    file.touch()
    found = locate(data_dir, str(file), LinkMode.LINKED_FILE, library="groups/12")
    assert found == (None, Unread.OUTSIDE_LIBRARY)


def test_a_relative_linked_file_needs_the_base_folder(data_dir: Path) -> None:
    found = locate(data_dir, "attachments:sub/rel.pdf", LinkMode.LINKED_FILE)
    assert found == (None, Unread.BASE_FOLDER_UNKNOWN)


def test_a_relative_linked_file_is_under_the_base_folder(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "base" / "sub" / "rel.pdf"
    file.parent.mkdir(parents=True)
    file.touch()
    found = locate(
        data_dir,
        "attachments:sub/rel.pdf",
        LinkMode.LINKED_FILE,
        base_folder=tmp_path / "base",
    )
    assert found == (file, None)


def test_a_relative_linked_file_may_not_leave_the_base_folder(
    data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "rel.pdf").touch()
    found = locate(
        data_dir, "attachments:../rel.pdf", LinkMode.LINKED_FILE, base_folder=tmp_path / "base"
    )
    assert found == (None, Unread.OUTSIDE_LIBRARY)


def test_a_linked_address_has_no_file_and_is_no_failure(data_dir: Path) -> None:
    assert locate(data_dir, "", LinkMode.LINKED_URL) == (None, None)


def test_a_name_too_long_for_the_file_system_is_missing(data_dir: Path) -> None:
    assert locate(data_dir, "storage:" + "x" * 5000) == (None, Unread.FILE_MISSING)
