"""What the search process can be told."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from services.chassis.settings import ServiceSettings

Device = Literal["auto", "cpu", "cuda", "mps"]
Role = Literal["all", "reader", "writer"]
Source = Literal["sqlite", "local_api", "web_api"]


class Settings(ServiceSettings, env_prefix="SEARCH_"):
    """Settings of the search process, read from `SEARCH_…`."""

    port: int = Field(default=50051, ge=0, le=65535)
    index_uri: str
    """A folder, or a URI of object storage such as `s3://bucket/index`."""
    index_storage: dict[str, SecretStr] = Field(default_factory=dict)
    """How to reach object storage, as JSON: `endpoint`, `region`, `access_key_id`,
    `secret_access_key`, `allow_http` and others; what is missing is taken from `AWS_…`."""
    index_cache_bytes: int = Field(default=128 * 1024 * 1024, ge=1024 * 1024)
    """Memory that the index may keep of its own files."""
    role: Role = "all"
    """`reader` answers queries only; `writer` and `all` also bring the index in step with the
    library. One writer at a time works on an index."""

    source: Source = "sqlite"
    """How the library is read: `sqlite` from a copy of the database, `local_api` from the running
    Zotero, `web_api` from Zotero's server."""
    server: str = ""
    """Where the API answers; empty: the usual place of Zotero on this machine, or of the server."""
    web_key: SecretStr = SecretStr("")
    """The key for Zotero's server."""
    source_changeable: bool = False
    """Whether whoever may see the whole library may choose another one while the process runs."""
    cache_dir: Path | None = None
    """Where replies and files of an API are kept; none: beside a local index."""
    library_dir: Path | None = None
    """The Zotero data folder, the one with `zotero.sqlite`."""
    base_folder: Path | None = None
    """Where linked files with relative paths are; none: such files are skipped, and said so."""
    demo: bool = False
    """The library is the invented demonstration library, which every status says."""
    recheck_s: float = Field(default=60.0, gt=0)
    """How often the library's files are looked at for changes."""
    readers: int = Field(default=2, ge=1, le=32)
    """Documents that are read at the same time."""

    models_dir: Path
    """The folder with the exported embedding model."""
    model: str = ""
    """Name or path of a sentence-transformers model; empty: the exported one, without torch."""
    device: Device = "auto"
    """Where a sentence-transformers model runs; the exported one runs on the CPU."""
    encoder_threads: int = Field(default=0, ge=0, le=256)
    """Threads of the exported model; 0 takes one per processor, at most four."""
