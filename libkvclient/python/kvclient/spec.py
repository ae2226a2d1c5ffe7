"""The spec: everything that makes the bytes of two blocks interchangeable. It is hashed into the space's digest."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence

from . import _kvclient
from .errors import InvalidArgument


@dataclasses.dataclass(frozen=True)
class Part:
    """A named byte range of a block: "kv", and for hybrid models e.g. "swa", "mamba", "indexer"."""

    name: str
    bytes: int
    layers: tuple[int, int]  # first, count
    kv_heads: int
    head_dim: int
    dtype: str = "f16"
    layout: str = ""  # dimension order, strides, K/V packing: must be said


@dataclasses.dataclass(frozen=True)
class Shard:
    """The heads and layers that a block covers when ranks split the model."""

    kv_heads: tuple[int, int]  # first, count
    max_tp: int
    layers: tuple[int, int]  # first, count


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
        texts = (self.model, self.revision, self.adapter, self.tokenizer, self.codec)
        made = _kvclient.Spec(*texts, _u32(self.block_tokens))
        for part in self.parts:
            _part_add(made, part)
        if self.shard is not None:
            shard = self.shard
            made.set_shard(*map(_u32, (*_pair(shard.kv_heads), shard.max_tp, *_pair(shard.layers))))
        for name, value in self.rope.items():
            made.set_rope(name, _text(f"rope.{name}", value))
        for name, value in self.extra.items():
            made.set_extra(name, _text(f"extra.{name}", value))
        return made


def _part_add(made, part: Part) -> None:
    if not 0 <= part.bytes < 2**64:
        raise InvalidArgument(f"spec: part {part.name}: bytes is {part.bytes}")
    layers = map(_u32, _pair(part.layers))
    made.add_part(part.name, part.bytes, *layers, _u32(part.kv_heads), _u32(part.head_dim), part.dtype, part.layout)


def _pair(value) -> tuple[int, int]:
    if len(value) != 2:
        raise InvalidArgument(f"spec: a range is (first, count), not {value!r}")
    return tuple(value)


def _u32(value: int) -> int:
    if not 0 <= value < 2**32:
        raise InvalidArgument(f"spec: {value} is not in 0 to {2**32 - 1}")
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
