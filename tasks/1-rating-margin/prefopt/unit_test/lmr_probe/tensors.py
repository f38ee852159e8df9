"""torch tensors in a document: all element types, views that share one storage, gradients."""

from __future__ import annotations

import ctypes
import sys
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple

from .buffers import BadDocument, Buffer
from .tree import TORCH_SIZES

if TYPE_CHECKING:
    from .decoder import Decoder
    from .encoder import Encoder

BUFFER_NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "float16": "F16",
    "bfloat16": "BF16", "int32": "I32", "uint32": "U32", "float32": "F32", "float64": "F64", "int64": "I64",
    "uint64": "U64", "complex64": "C64", "complex128": "<c16", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "complex32": "|V4",
}  # fmt: skip
"""torch's element types → a buffer's."""

_WASTE = 4
"""A view is stored with its whole storage only if that is at most so many times its own size."""


def encode(encoder: Encoder, value: Any, path: str) -> Optional[Dict[str, Any]]:
    """The node of a tensor; None when the value is none."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor") or not isinstance(value, torch.Tensor):
        return None
    refusal = _refusal(torch, value)
    if refusal:
        return encoder.problem(path, value, refusal)
    with torch.no_grad():
        if value.layout != torch.strided:
            return _encode_sparse(encoder, value, path)
        node: Dict[str, Any] = {
            "$": "tensor",
            "b": "",
            "dtype": str(value.dtype).rpartition(".")[2],
            "shape": list(value.shape),
            "stride": [],
            "offset": 0,
            "requires_grad": bool(value.requires_grad),
            "leaf": bool(value.is_leaf),
            "device": str(value.device),
        }
        if type(value) is not torch.Tensor:
            node["cls"] = encoder.class_name(type(value), value, path)
            if node["cls"] is None:
                return {"$": "omitted"}
        encoder.remember(value, node)
        if value.is_leaf and value.grad is not None:
            node["grad"] = encoder.node(value.grad, path + ".grad")
        attributes = getattr(value, "__dict__", None)
        if attributes:
            node["attrs"] = encoder.state(list(attributes.items()), path)
        encoder.storages.add(node, _plain(torch, value), path)
    return node


def _refusal(torch: Any, value: Any) -> str:
    name = type(value).__name__
    if getattr(value, "is_meta", False) or name in ("FakeTensor", "UninitializedParameter"):
        return "it has no data; run the driver without fake, meta or lazy tensors"
    if getattr(value, "is_quantized", False):
        return "quantized tensors cannot be stored; dequantize() it first"
    if getattr(value, "is_nested", False):
        return "nested tensors cannot be stored; use to_padded_tensor() or a list"
    if value.layout not in (torch.strided, torch.sparse_coo):
        return "only dense and COO tensors can be stored; use to_dense()"
    if str(value.dtype).rpartition(".")[2] not in TORCH_SIZES:
        return "tensors of %s cannot be stored" % value.dtype
    return ""


def _plain(torch: Any, value: Any) -> Any:
    """The tensor without autograd, subclass, and lazy conjugation or negation."""
    plain = value.detach()
    if type(plain) is not torch.Tensor:
        plain = plain.as_subclass(torch.Tensor)
    if hasattr(plain, "is_conj") and plain.is_conj():
        plain = plain.resolve_conj()
    if hasattr(plain, "is_neg") and plain.is_neg():
        plain = plain.resolve_neg()
    return plain


def _encode_sparse(encoder: Encoder, value: Any, path: str) -> Dict[str, Any]:
    plain = value.detach()
    node = {
        "$": "sparse",
        "indices": None,
        "values": None,
        "shape": list(value.shape),
        "requires_grad": bool(value.requires_grad),
        "coalesced": bool(value.is_coalesced()),
    }
    encoder.remember(value, node)
    node["indices"] = encoder.node(plain._indices().clone(), path + ".indices")
    node["values"] = encoder.node(plain._values().clone(), path + ".values")
    return node


class _Group:
    """Tensors over one storage."""

    def __init__(self, key: Any) -> None:
        self.key = key
        self.members: List[Tuple[Dict[str, Any], Any, str]] = []

    def span(self) -> Tuple[int, int]:
        """First and last byte that any member uses; the first one aligned to 16."""
        spans = [_span(tensor) for _, tensor, _ in self.members]
        return min(begin for begin, _ in spans) // 16 * 16, max(end for _, end in spans)


def _span(tensor: Any) -> Tuple[int, int]:
    size = tensor.element_size()
    begin = tensor.storage_offset() * size
    if tensor.numel() == 0:
        return begin, begin
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    return begin, begin + (last + 1) * size


class Storages:
    """Tensors by storage: views stay views, and nothing is copied before its size is known."""

    def __init__(self) -> None:
        self._groups: Dict[Any, _Group] = {}
        self._planned: List[_Group] = []

    def add(self, node: Dict[str, Any], tensor: Any, path: str) -> None:
        """Note a tensor; its data are taken by :meth:`write`."""
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        pointer = storage.data_ptr()
        key = (str(tensor.device), pointer) if pointer and tensor.numel() else ("empty", id(node))
        self._groups.setdefault(key, _Group(key)).members.append((node, tensor, path))

    def plan(self) -> Iterator[Tuple[str, int]]:
        """Decide what is stored together; yields (path, bytes) of each buffer to come."""
        for group in self._groups.values():
            begin, end = group.span()
            used = sum(tensor.numel() * tensor.element_size() for _, tensor, _ in group.members)
            if end - begin > _WASTE * used + 64 and len(group.members) > 1:
                for place, member in enumerate(group.members):
                    single = _Group((group.key, place))
                    single.members.append(member)
                    self._planned.append(single)
                    yield member[2], member[1].numel() * member[1].element_size()
            else:
                self._planned.append(group)
                yield group.members[0][2], min(end - begin, _WASTE * used + 64)

    def write(self, new_buffer: Callable[[Buffer], str]) -> None:
        """Copy the data of every group and complete the nodes."""
        torch = sys.modules.get("torch")
        if torch is None:
            return
        with torch.no_grad():
            for group in self._planned:
                if len(group.members) == 1:
                    _write_single(group.members[0], new_buffer)
                else:
                    _write_shared(torch, group, new_buffer)


def _write_single(member: Tuple[Dict[str, Any], Any, str], new_buffer: Callable[[Buffer], str]) -> None:
    node, tensor, _ = member
    begin, end = _span(tensor)
    used = tensor.numel() * tensor.element_size()
    name = BUFFER_NAMES[node["dtype"]]
    if tensor.is_contiguous() or end - begin > _WASTE * used + 64 or used == 0:
        tensor = tensor.contiguous()
        node["stride"], node["offset"] = list(tensor.stride()), 0
        node["b"] = new_buffer(Buffer(name, tuple(tensor.shape), _bytes(tensor)))
        return
    length = (end - begin) // tensor.element_size()
    flat = tensor.as_strided((length,), (1,), tensor.storage_offset())
    node["stride"], node["offset"] = list(tensor.stride()), 0
    node["b"] = new_buffer(Buffer(name, (length,), _bytes(flat)))


def _write_shared(torch: Any, group: _Group, new_buffer: Callable[[Buffer], str]) -> None:
    begin, end = group.span()
    first_node, first, _ = group.members[0]
    dtypes = {node["dtype"] for node, _, _ in group.members}
    if len(dtypes) == 1:
        size = first.element_size()
        flat = first.as_strided(((end - begin) // size,), (1,), begin // size)
        buffer = Buffer(BUFFER_NAMES[first_node["dtype"]], tuple(flat.shape), _bytes(flat))
    elif first.device.type == "cpu":
        start = first.data_ptr() - first.storage_offset() * first.element_size()
        buffer = Buffer("U8", (end - begin,), ctypes.string_at(start + begin, end - begin))
    else:
        for member in group.members:
            _write_single(member, new_buffer)
        return
    name = new_buffer(buffer)
    for node, tensor, _ in group.members:
        node["b"] = name
        node["stride"] = list(tensor.stride())
        node["offset"] = tensor.storage_offset() - begin // tensor.element_size()


def _bytes(tensor: Any) -> bytes:
    """The data of a contiguous tensor; works without numpy and for every element type."""
    tensor = tensor.cpu()
    size = tensor.numel() * tensor.element_size()
    return ctypes.string_at(tensor.data_ptr(), size) if size else b""


def decode(decoder: Decoder, node: Dict[str, Any], cls: Any) -> Any:
    """A tensor on the CPU from its node; ``cls`` is its class, None for a plain tensor."""
    import torch

    dtype = getattr(torch, node["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise BadDocument("this torch has no type %s" % node["dtype"])
    with torch.no_grad():
        plain = _view(torch, decoder, node, dtype)
    if cls is torch.nn.Parameter:
        return torch.nn.Parameter(plain, requires_grad=node["requires_grad"])
    if node["requires_grad"] and not node["leaf"]:
        with torch.enable_grad():
            result = plain.detach().clone().requires_grad_(True).clone()
        result.data = plain
    else:
        result = plain.requires_grad_(node["requires_grad"]) if node["requires_grad"] else plain
    if cls is None:
        return result
    if issubclass(cls, torch.nn.Parameter):
        return torch.Tensor._make_subclass(cls, plain.detach(), node["requires_grad"])
    return result.as_subclass(cls)


def _view(torch: Any, decoder: Decoder, node: Dict[str, Any], dtype: Any) -> Any:
    """The tensor as a view of its storage, which is made at the first encounter."""
    name = node["b"]
    shape = tuple(node["shape"])
    base = decoder.storages.get(name)
    if base is None:
        data = decoder.document.buffers[name].data
        base = torch.empty(len(data), dtype=torch.uint8, device="cpu")
        if data:
            ctypes.memmove(base.data_ptr(), data, len(data))
        decoder.storages[name] = base
    empty = torch.empty(0, dtype=dtype, device="cpu")
    if 0 in shape:
        return torch.empty(shape, dtype=dtype, device="cpu")
    storage = base.untyped_storage() if hasattr(base, "untyped_storage") else None
    if storage is not None:
        return empty.set_(storage, node["offset"], shape, tuple(node["stride"]))
    typed = decoder.storages.get((name, dtype))  # torch before 2.0 has no untyped storage
    if typed is None:
        typed = torch.empty(base.numel() // empty.element_size(), dtype=dtype, device="cpu")
        ctypes.memmove(typed.data_ptr(), base.data_ptr(), typed.numel() * empty.element_size())
        decoder.storages[(name, dtype)] = typed
    return typed.as_strided(shape, tuple(node["stride"]), node["offset"])


def decode_sparse(node: Dict[str, Any], indices: Any, values: Any) -> Any:
    """A COO tensor from its parts."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions ask whether invariants are to be checked
        result = torch.sparse_coo_tensor(indices, values.detach(), tuple(node["shape"]))
        if node["coalesced"]:
            result = result.coalesce()
    return result.requires_grad_(node["requires_grad"])
