"""Attachment files fetched from a server, kept by their content, fetched once."""

import asyncio
import base64
import binascii
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import zipfile
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from services.search.errors import DiskFull, is_disk_full
from services.search.library.api_http import FORBIDDEN, NOT_FOUND, OK, ApiHttp
from services.search.library.attachment_paths import Location, missing
from services.search.library.records import RemoteFile, Unread
from services.search.library.source import SourceUnreachable

MOST_BYTES = 1024**3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PLAIN_SUFFIX = re.compile(r"^\.[a-z0-9]{1,8}$")
MD5 = re.compile(r"^[0-9a-f]{32}$")
COMPRESSED = "Zotero-File-Compressed"
ENCODED_NAME = "%ZB64"
CHUNK = 1024 * 1024
NOT_THERE = (
    "Zotero's server does not have the file; files that are kept by WebDAV or on one computer "
    "only cannot be fetched."
)


class WebFiles:
    """A folder of fetched files, each named by the hash of its content."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    async def fetch(self, http: ApiHttp, file: RemoteFile, url: str) -> Location:
        """The file, from the folder if it is there; raises SourceUnreachable, DiskFull."""
        if not MD5.match(file.md5):
            return missing("Zotero's server names the file by something that is no hash.")
        kept = self._place_of(file)
        if await asyncio.to_thread(kept.is_file):
            return Location(path=kept)
        await asyncio.to_thread(kept.parent.mkdir, parents=True, exist_ok=True)
        part = kept.with_name(f"{kept.name}.{secrets.token_hex(4)}.part")
        try:
            return await self._fetch(http, file, url, part, kept)
        except httpx.HTTPError as error:
            raise SourceUnreachable(
                f"The file {file.name!r} broke off while it was fetched ({error}); the next sync "
                "goes on."
            ) from error
        except OSError as error:
            if is_disk_full(error):
                raise DiskFull(
                    f"There is no room for the file {file.name!r}; free some space, then sync "
                    "again."
                ) from error
            raise
        finally:
            await asyncio.to_thread(part.unlink, missing_ok=True)

    def _place_of(self, file: RemoteFile) -> Path:
        suffix = Path(file.name).suffix.lower()
        name = file.md5 + (suffix if PLAIN_SUFFIX.match(suffix) else "")
        return self._folder / file.md5[:2] / name

    async def _fetch(
        self, http: ApiHttp, file: RemoteFile, url: str, part: Path, kept: Path
    ) -> Location:
        is_compressed, foreign = False, False
        for _ in range(5):
            async with http.download(url, foreign=foreign) as response:
                is_compressed = is_compressed or response.headers.get(COMPRESSED) == "Yes"
                if response.status_code in REDIRECTS:
                    there = urljoin(url, response.headers.get("Location", ""))
                    # The key is for the server it was made for, wherever that sends us.
                    foreign = foreign or _origin(there) != _origin(url)
                    url = there
                    continue
                if response.status_code in (FORBIDDEN, NOT_FOUND):
                    return missing(NOT_THERE)
                if response.status_code != OK:
                    return missing(f"Zotero's server answered {response.status_code} to the file.")
                if not await self._write(response, part):
                    return self._too_large(file)
                return await asyncio.to_thread(self._keep, file, part, kept, is_compressed)
        return missing("Zotero's server sends in circles for the file.")

    async def _write(self, response: httpx.Response, part: Path) -> bool:
        """Write the body down, unless it is too large."""
        written = 0
        with part.open("wb") as target:
            async for chunk in response.aiter_bytes(CHUNK):
                written += len(chunk)
                if written > self._most_bytes:
                    return False
                await asyncio.to_thread(target.write, chunk)
        return True

    def _keep(self, file: RemoteFile, part: Path, kept: Path, is_compressed: bool) -> Location:
        """Give the whole and right file its name; blocks."""
        if is_compressed:
            reason = self._unpacked(file, part)
            if reason is not None:
                return reason
        if _md5(part) != file.md5:
            return missing("The file on Zotero's server is not the one that the library names.")
        os.replace(part, kept)
        return Location(path=kept)

    def _unpacked(self, file: RemoteFile, part: Path) -> Location | None:
        """Put the named file of an archive in its place, or say why that cannot be."""
        try:
            with zipfile.ZipFile(part) as archive:
                entry = next(
                    (one for one in archive.infolist() if _plain(one.filename) == file.name), None
                )
                if entry is None:
                    return missing("The archive on Zotero's server lacks the file.")
                # What the archive says of its size is not believed: the copy is counted.
                with tempfile.TemporaryFile(dir=part.parent) as unpacked:
                    with archive.open(entry) as packed:
                        while chunk := packed.read(CHUNK):
                            unpacked.write(chunk)
                            if unpacked.tell() > self._most_bytes:
                                return self._too_large(file)
                    unpacked.seek(0)
                    archive.close()
                    with part.open("wb") as target:
                        shutil.copyfileobj(unpacked, target, CHUNK)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            return missing(f"The archive on Zotero's server cannot be unpacked ({error}).")
        return None

    def _too_large(self, file: RemoteFile) -> Location:
        return Location(
            unread=Unread.TOO_LARGE,
            detail=f"The file {file.name!r} is larger than {self._most_bytes // 1024**2} MiB.",
        )


def _plain(name: str) -> str:
    """The name of an archive's entry, which Zotero may have written in another alphabet."""
    if not name.endswith(ENCODED_NAME):
        return name
    try:
        return base64.b64decode(name.removesuffix(ENCODED_NAME), validate=True).decode()
    except (binascii.Error, ValueError):
        return name


def _md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
