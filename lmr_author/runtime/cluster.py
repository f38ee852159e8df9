"""Work on a Dask cluster, whose workers see the same folders as this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lmr_author import __version__
from lmr_author.core.errors import LmrError

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")

_SECONDS = 10.0


def connect(address: str, seconds: float = _SECONDS) -> Client:
    """Connect to a scheduler. Raises LmrError: Dask is not installed, or no answer within some seconds."""
    try:
        from distributed import Client
    except ImportError as error:
        raise LmrError(
            "--scheduler needs Dask", "in the checkout of lmr-author: pip install '.[dask]'"
        ) from error
    try:
        return Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LmrError(
            f"no Dask scheduler answers at {address}",
            "start one with `dask scheduler`; addresses look like tcp://host:8786",
        ) from error


def spread(
    address: str, work: Callable[[Item], Result], items: Sequence[Item], gpus: bool = False
) -> Iterator[tuple[Item, Result | LmrError]]:
    """Do some work for each item on a cluster; yield the item with its result or its error.

    Dask moves the work of a lost worker to another one. Leaving the iteration cancels waiting work; workers finish
    their current item.

    Args:
        address: address of the scheduler.
        work: a function of a module, or a `partial` of one.
        items: arguments of the calls.
        gpus: use only workers that declare the resource ``GPU``.
    """
    from distributed import as_completed

    with connect(address) as client:
        resources = {"GPU": 1} if gpus else None
        futures = {
            client.submit(_checked, __version__, work, item, resources=resources, pure=False): item
            for item in items
        }
        try:
            for future in as_completed(list(futures), loop=client.loop):
                try:
                    yield futures[future], future.result()
                except LmrError as error:
                    yield futures[future], error
                except Exception as error:  # the worker or its connection failed
                    reason = f"its worker failed: {type(error).__name__}: {error}"[:300]
                    yield futures[future], LmrError(reason, "run the same command again")
        finally:
            client.cancel(list(futures), force=True)


def _checked(version: str, work: Callable[[Item], Result], item: Item) -> Result:
    if version != __version__:
        raise LmrError(
            f"the worker has lmr-author {__version__}, not {version}",
            "install the same version on all workers",
        )
    return work(item)


def require_shared(folder: Path) -> None:
    """Raise LmrError on a worker that does not share a folder with the machine that sent the work."""
    if not folder.is_dir():
        raise LmrError(
            f"{folder} does not exist on the worker", "use folders that all machines of the cluster share"
        )
