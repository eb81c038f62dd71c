"""The page: its files, and the one-time address that brings it its key."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from gateway import wire
from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, InContext

router = APIRouter(tags=["page"])

FOLDER = Path(__file__).resolve().parent.parent / "page"
INDEX = "index.html"
# Written out, because the tables of some systems know no type for modules.
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".xhtml": "application/xhtml+xml; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".ftl": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Always asked for again, so that an update of the gateway is an update of the page.
    "Cache-Control": "no-cache",
}

IfNoneMatch = Annotated[str | None, Header()]


@router.get("/", response_class=Response, include_in_schema=False)
async def read_page(if_none_match: IfNoneMatch = None) -> Response:
    """The page."""
    return _file(INDEX, if_none_match)


@router.get("/page/{name:path}", response_class=Response, include_in_schema=False)
async def read_file(name: str, if_none_match: IfNoneMatch = None) -> Response:
    """A file of the page."""
    return _file(name, if_none_match)


@router.post("/page-links")
async def make_link(request: Request, context: InContext, caller: CalledBy) -> wire.PageLink:
    """Make an address that opens the page with the caller's key: once, within ten minutes."""
    base = str(request.base_url)
    if not caller.key:
        return wire.PageLink(url=base)
    return wire.PageLink(url=f"{base}#link={context.links.make(caller.key)}")


@router.post("/page-key")
async def take_key(body: wire.PageKeyRequest, context: InContext) -> wire.PageKey:
    """Exchange the token of a one-time address for the key; asks for no key itself."""
    return wire.PageKey(key=context.links.redeem(body.token))


def _files() -> Iterator[Path]:
    """What the page is made of: its own files, and those of its languages."""
    yield from FOLDER.iterdir()
    yield from FOLDER.glob("locale/*/*")


def _file(name: str, known: str | None) -> Response:
    # Chosen from what the folder holds, so that no name can lead out of it.
    path = next((path for path in _files() if path.relative_to(FOLDER).as_posix() == name), None)
    if path is None or path.suffix not in KINDS:
        raise GatewayError("NOT_FOUND", f"There is no page file {name[:100]!r}.")
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**HEADERS, "ETag": tag}
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=KINDS[path.suffix], headers=headers)
