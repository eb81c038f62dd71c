"""The unprivileged account that Postgres runs as when the stack is started by root."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy.failure import CannotStart

USUAL_NAME = "postgres"
OWN_NAME = "zocrates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user of this machine and its main group."""

    name: str
    uid: int
    gid: int


def unprivileged_account(cluster: Path) -> Account:
    """The owner of the existing cluster, else `postgres`, else a system user made for Zocrates."""
    if cluster.exists() and (owner := _account_by_id(cluster.stat().st_uid)) is not None:
        return owner
    return _account_named(USUAL_NAME) or _account_named(OWN_NAME) or _make_account()


def require_reach(account: Account, path: Path, advice: str) -> None:
    """Raise CannotStart when the account cannot pass through the folders above a path."""
    if (obstacle := closed_folder(account, path)) is not None:
        raise CannotStart(
            f"The account {account.name!r}, which Postgres runs as under root, cannot enter "
            f"{str(obstacle)!r}; {advice}."
        )


def closed_folder(account: Account, path: Path) -> Path | None:
    """The first folder on the way to a path that the account may not pass through."""
    for folder in reversed((path, *path.parents)):
        if not folder.is_dir():
            continue
        status = folder.stat()
        if status.st_uid == account.uid:
            bit = 0o100
        elif status.st_gid == account.gid:
            bit = 0o010
        else:
            bit = 0o001
        if not status.st_mode & bit:
            return folder
    return None


def hand_over(path: Path, account: Account) -> None:
    """Make the account the owner of a file or folder."""
    os.chown(path, account.uid, account.gid)


def _account_by_id(uid: int) -> Account | None:
    # The module does not exist on Windows, where nobody is root.
    import pwd

    if uid == 0:
        return None
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return None
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def _account_named(name: str) -> Account | None:
    import pwd

    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def _make_account() -> Account:
    command = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if command is not None:
        made = subprocess.run(
            [command, "--system", "--user-group", "--no-create-home", OWN_NAME],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        if made.returncode == 0 and (account := _account_named(OWN_NAME)) is not None:
            return account
    raise CannotStart(
        "Postgres does not run as root and no account for it could be made; "
        f"make a system user named {OWN_NAME!r} or start Zocrates as an ordinary user."
    )
