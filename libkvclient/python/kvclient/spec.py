"""The spec: everything that makes the bytes of two blocks interchangeable. It is hashed into the space's digest."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Mapping, Sequence

from . import _kvclient
from .errors import InvalidArgument


@dataclasses.dataclass(frozen=True)
class Part:
    """A named byte range of a block: "kv", and for hybrid models e.g. "swa", "mamba", "indexer".

    bytes   of one block
    layers  (first, count): the part holds the layers first to first + count - 1 of the model; (0, 32): all of 32
    dtype   "f16", "bf16", "f8_e4m3", "i8", "q8_0", ...
    layout  dimension order, strides, K/V packing: must be said
    """

    name: str
    bytes: int
    layers: tuple[int, int]
    kv_heads: int
    head_dim: int
    dtype: str = "f16"
    layout: str = ""


@dataclasses.dataclass(frozen=True)
class Shard:
    """The heads and layers that a block covers when ranks split the model; both are (first, count)."""

    kv_heads: tuple[int, int]
    max_tp: int
    layers: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Spec:
    """Values of `rope` and `extra` may be str, int, bool or float; equal numbers have one form (10000.0 is 10000)."""

    model: str
    revision: str
    adapter: str = ""
    tokenizer: str = ""  # must be said
    block_tokens: int = 64
    parts: Sequence[Part] = ()
    rope: Mapping[str, object] = dataclasses.field(default_factory=dict)
    codec: str = "raw"
    shard: Shard | None = None
    extra: Mapping[str, object] = dataclasses.field(default_factory=dict)

    def digest(self) -> bytes:
        """SHA-256 of the canonical encoding: what space.digest will be."""
        return self._native.digest()

    def encode(self) -> bytes:
        return self._native.encode()

    def check(self) -> None:
        """Raises InvalidArgument with the name of the first field that is wrong."""
        self._native.check()

    def difference(self, other: Spec) -> str:
        """The first field in which they differ, with both values; "" when they are equal."""
        return self._native.difference(other._native)

    @functools.cached_property
    def _native(self):
        texts = (_str(name, getattr(self, name)) for name in ("model", "revision", "adapter", "tokenizer", "codec"))
        made = _kvclient.Spec(*texts, _number("block_tokens", self.block_tokens))
        for index, part in enumerate(self.parts):
            _part_add(made, f"parts[{index}]", part)
        if self.shard is not None:
            shard = self.shard
            kv_heads = _range("shard.kv_heads", shard.kv_heads)
            made.set_shard(*kv_heads, _number("shard.max_tp", shard.max_tp), *_range("shard.layers", shard.layers))
        for name, value in self.rope.items():
            made.set_rope(name, _text(f"rope.{name}", value))
        for name, value in self.extra.items():
            made.set_extra(name, _text(f"extra.{name}", value))
        return made


def _part_add(made, field: str, part: Part) -> None:
    made.add_part(
        _str(f"{field}.name", part.name),
        _number(f"{field}.bytes", part.bytes, 64),
        *_range(f"{field}.layers", part.layers),
        _number(f"{field}.kv_heads", part.kv_heads),
        _number(f"{field}.head_dim", part.head_dim),
        _str(f"{field}.dtype", part.dtype),
        _str(f"{field}.layout", part.layout),
    )


def _range(field: str, value) -> tuple[int, int]:
    try:
        first, count = value
    except (TypeError, ValueError):
        raise InvalidArgument(f"spec: {field} is {value!r}; (first, count) is wanted") from None
    return _number(f"{field}[0], the first,", first), _number(f"{field}[1], the count,", count)


def _number(field: str, value, bits: int = 32) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number < 2**bits:
        raise InvalidArgument(f"spec: {field} is {value!r}; a whole number from 0 to {2**bits - 1} is wanted")
    return number


def _str(field: str, value) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"spec: {field} is {value!r}; a text is wanted")
    return value


def _text(field: str, value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    raise InvalidArgument(f"spec: {field} is {value!r}; a text, a number or a truth value is wanted")
