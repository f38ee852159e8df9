"""Addresses of repositories: the allowed ones, how they are shown and named, and the public one of a clone."""

from __future__ import annotations

import configparser
import io
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes, urljoin, urlsplit

from lmr_author.core import foreign, processes
from lmr_author.core.errors import LmrError

SCHEMES = ("https", "http", "ssh", "git", "file")
"""Transports that git may use. ``ext::`` and other remote helpers run programs, so they are refused."""

_SCP = re.compile(r"^(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+):(?!//)(?P<path>.+)$")
_ALLOWED = f"give an address by {', '.join(SCHEMES[:-1])} or file://, git@host:path, or a local folder"


@dataclass(frozen=True)
class Address:
    """The place of a repository.

    Attributes:
        git: what git is given; may hold credentials, so it is never written or shown.
        shown: the same without credentials.
    """

    git: str
    shown: str
    local: bool

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address. Raises LmrError for a transport that is not allowed, or text that is not an address."""
        text = text.strip()
        if not text:
            raise LmrError("the repository address is empty", _ALLOWED)
        if text.startswith("-"):
            raise LmrError(f"not a repository address: {text!r} (it starts with '-')", _ALLOWED)
        # A folder's name may be bytes that are not UTF-8; its address has them escaped.
        if not text.isprintable() and not os.path.isdir(os.path.expanduser(text)):  # noqa: PTH112
            raise LmrError(f"not a repository address: {text!r} (control characters)", _ALLOWED)
        if re.match(r"^[\w+.-]+::", text):
            raise LmrError(
                f"the transport {text.partition('::')[0]}:: is not allowed: it can run programs", _ALLOWED
            )
        if "://" in text:
            return cls._from_url(text)
        folder = Path(os.path.expanduser(text))
        if os.path.exists(folder):  # noqa: PTH110 (Path.exists raises for a name that is too long)
            return cls._from_folder(folder, text)
        match = _SCP.match(text)
        if match is None:
            raise LmrError(f"{text}: neither an address nor an existing folder", _guess(text))
        if match["host"].startswith("-") or match["path"].startswith("-"):
            raise LmrError(f"not a repository address: {text!r} (a part starts with '-')", _ALLOWED)
        return cls(text, text, local=False)

    @classmethod
    def _from_url(cls, text: str) -> Address:
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
            _ = parts.port
        except ValueError as error:
            raise LmrError(f"not a repository address: {text!r} ({error})", _ALLOWED) from error
        scheme = parts.scheme.lower()
        if scheme not in SCHEMES:
            raise LmrError(f"the transport {scheme}:// is not allowed", _ALLOWED)
        if scheme == "file":
            if host not in ("", "localhost"):
                raise LmrError(f"{text}: file:// names another machine", "use file:///absolute/path")
            return cls._from_folder(_folder(text), text)
        user = parts.username or ""
        if not host or host.startswith("-") or user.startswith("-"):
            raise LmrError(f"not a repository address: {text!r} (no valid host)", _ALLOWED)
        return cls(text, _without_login(text), local=False)

    @classmethod
    def _from_folder(cls, folder: Path, text: str) -> Address:
        if not os.path.isdir(folder):  # noqa: PTH112 (as above)
            raise LmrError(f"{text}: no such folder", "check the path")
        url = "file://" + quote(os.fsencode(folder.absolute()), safe="/+@:~!$&'()*,;=")
        return cls(url, text if text.startswith("file://") else url, local=True)

    @property
    def folder_name(self) -> str:
        """The last part of the path that says something, as the name of a folder."""
        path = self.shown if "://" not in self.shown else urlsplit(self.shown).path
        parts = [unquote(part).removesuffix(".git") for part in re.split(r"[/:]", path)]
        parts = [part for part in parts if part and part != "repo"]
        return safe_name(parts[-1]) if parts else ""

    @property
    def folder(self) -> Path:
        return _folder(self.git)

    def origin(self) -> str:
        """Return the address that a local clone was made from; "" when it names none."""
        url = _origin(self.folder) if self.local else ""
        return str(self.folder / url) if url.startswith(("./", "../")) else url

    def relative(self, url: str) -> Address:
        """Return the address of a submodule, as its superproject at this address names it.

        A local submodule is taken only by a relative address in a local superproject: otherwise a foreign repository
        could name any folder of this machine.
        """
        if url.startswith(("./", "../")):
            return Address.parse(_join(self.git, url))
        other = Address.parse(url)
        if other.local:
            raise LmrError(f"the submodule's address {other.shown} is a folder on this machine", _ALLOWED)
        return other


def safe_name(text: str) -> str:
    """Return a text made a folder's name: letters, digits, ``.``, ``_``, ``-``; a letter or digit at both ends."""
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", re.sub(r"[^A-Za-z0-9._-]+", "-", text))[:80]


def _join(base: str, relative: str) -> str:
    """Resolve a submodule's relative address as git does: against the superproject's, taken as a folder."""
    scheme, separator, location = base.partition("://")
    if separator:
        host, _, path = location.partition("/")
        joined = urljoin(f"http://x/{path.rstrip('/')}/", relative)
        return f"{scheme}://{host}{urlsplit(joined).path}"
    host, _, path = base.partition(":")
    joined = urljoin(f"http://x/{path.strip('/')}/", relative)
    return f"{host}:{urlsplit(joined).path.lstrip('/')}"


def _folder(url: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(urlsplit(url).path)))


def _without_login(url: str) -> str:
    """Return a URL without password; for http(s) also without user, which may be a token."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    user = login.partition(":")[0]
    shown_user = f"{user}@" if at and user and parts.scheme.lower() == "ssh" else ""
    return parts._replace(netloc=shown_user + host, query="", fragment="").geturl()


def _guess(text: str) -> str:
    if re.match(r"^(www\.)?(github|gitlab|bitbucket)\.(com|org)/", text):
        return f"did you mean https://{text} ?"
    if re.match(r"^[\w.-]+/[\w.-]+$", text):
        return f"did you mean https://github.com/{text} ?"
    return _ALLOWED


def public_address(address: Address, linked: Sequence[str]) -> str:
    """Return the address where everybody finds a repository; "" when unknown.

    A local clone has it from its origin, else from the link of the paper whose repository has the same name.
    """
    if not address.local:
        return address.shown
    origin = address.origin()
    scp = re.fullmatch(r"git@([\w.-]+):(.+)", origin)
    with suppress(LmrError):  # none, or one that is not allowed
        public = Address.parse(f"https://{scp[1]}/{scp[2]}" if scp else origin)
        if not public.local:
            return public.shown
    same = [url for url in linked if url.rpartition("/")[2].lower() == address.folder_name.lower()]
    return same[0] if same else ""


# settings in git's format, as strangers wrote them: read here, obeyed by nobody

MOST_BYTES = 1024 * 1024


def read_settings(data: bytes) -> dict[str, dict[str, str]]:
    """Return the sections of a text; files that it includes are not read."""
    processes.require("git")
    from git.config import GitConfigParser

    file = io.BytesIO(data)
    file.name = "settings"  # GitPython needs a name
    with suppress(configparser.Error, UnicodeDecodeError):
        settings = GitConfigParser(file, read_only=True, merge_includes=False)
        return {section: dict(settings.items(section)) for section in settings.sections()}
    return {}


def _origin(repository: Path) -> str:
    """Return the remote ``origin`` of a clone, a linked worktree, a submodule or a bare repository; "" for none."""
    folder = repository / ".git"
    if pointer := foreign.read_regular(str(folder), MOST_BYTES):
        folder = repository / os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
        common = foreign.read_regular(str(folder / "commondir"), MOST_BYTES) or b""
        folder /= os.fsdecode(common.strip())
    elif not folder.is_dir():
        folder = repository
    data = foreign.read_regular(str(folder / "config"), MOST_BYTES)
    return read_settings(data or b"").get('remote "origin"', {}).get("url", "")
