"""Specs: needs no daemon."""

from __future__ import annotations

import itertools

import pytest
from helpers import make_spec

import kvclient

VARIANTS = [
    {},
    {"model": "m2"},
    {"revision": "r2"},
    {"adapter": "lora"},
    {"tokenizer": "t2"},
    {"block_tokens": 8},
    {"codec": "zstd"},
    {"rope": {"base": 10000}},
    {"rope": {"base": 500000}},
    {"extra": {"base": 10000}},
    {"shard": kvclient.Shard(kv_heads=(0, 2), max_tp=4, layers=(0, 2))},
    {"shard": kvclient.Shard(kv_heads=(2, 2), max_tp=4, layers=(0, 2))},
    {"part": {"name": "swa"}},
    {"part": {"bytes": 8192}},
    {"part": {"layers": (1, 2)}},
    {"part": {"layers": (0, 1)}},
    {"part": {"kv_heads": 4}},
    {"part": {"head_dim": 128}},
    {"part": {"dtype": "bf16"}},
    {"part": {"layout": "HND"}},
]


def test_every_field_changes_the_digest_and_is_named():
    specs = [make_spec(**variant) for variant in VARIANTS]
    assert len({spec.digest() for spec in specs}) == len(specs)
    for a, b in itertools.combinations(specs, 2):
        assert a.difference(b)
    assert "parts[0].dtype" in specs[0].difference(make_spec(part={"dtype": "i8"}))
    assert specs[0].difference(make_spec()) == ""


def test_equal_values_have_one_form():
    forms = [{"base": 10000, "scale": 0.5}, {"scale": 0.5, "base": 10000.0}, {"base": "10000", "scale": "0.5"}]
    assert len({make_spec(rope=form).digest() for form in forms}) == 1
    assert make_spec(rope={"a": True}).digest() != make_spec(rope={"a": 1}).digest()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": ""}, "model"),
        ({"tokenizer": ""}, "tokenizer"),
        ({"block_tokens": 0}, "block_tokens"),
        ({"block_tokens": 4097}, "block_tokens"),
        ({"part": {"bytes": 0}}, "parts[0].bytes"),
        ({"part": {"layout": ""}}, "parts[0].layout"),
        ({"part": {"dtype": "f17"}}, "f17"),
        ({"model": "a\0b"}, "model"),
        ({"rope": {"base": float("nan")}}, "rope.base"),
        ({"extra": {"list": [1]}}, "extra.list"),
        ({"rope": {"": "x"}}, "name"),
        ({"block_tokens": -1}, "-1"),
        ({"block_tokens": "16"}, "block_tokens is '16'; a whole number"),
        ({"model": None}, "model is None; a text"),
        ({"part": {"layers": 32}}, "parts[0].layers is 32; (first, count) is wanted"),
        ({"part": {"layers": (0, 1, 2)}}, "parts[0].layers is (0, 1, 2); (first, count)"),
        ({"part": {"layers": ("a", 1)}}, "parts[0].layers[0], the first, is 'a'"),
        ({"part": {"layers": (0, 1.5)}}, "parts[0].layers[1], the count, is 1.5"),
        ({"part": {"layers": (0, -1)}}, "parts[0].layers[1], the count, is -1"),
        ({"part": {"layers": (0, 0)}}, "parts[0].layer_count"),
        ({"part": {"bytes": 2**64}}, "parts[0].bytes"),
        ({"part": {"kv_heads": True}}, "parts[0].kv_heads is True"),
        ({"shard": kvclient.Shard(kv_heads=2, max_tp=4, layers=(0, 2))}, "shard.kv_heads is 2"),
        ({"shard": kvclient.Shard(kv_heads=(0, 2), max_tp=None, layers=(0, 2))}, "shard.max_tp is None"),
    ],
)
def test_what_is_wrong_is_named(change, field):
    with pytest.raises(kvclient.InvalidArgument) as error:
        make_spec(**change).check()
    assert field in str(error.value)
    assert error.value.code == kvclient.Code.INVALID


def test_several_parts_lie_at_multiples_of_64(client):
    parts = [
        kvclient.Part(name="kv", bytes=1000, layers=(0, 2), kv_heads=2, head_dim=8, layout="NHD"),
        kvclient.Part(name="mamba", bytes=10, layers=(2, 1), kv_heads=0, head_dim=0, dtype="f32", layout="state"),
    ]
    space = client.space(kvclient.Spec(model="m", revision="r", tokenizer="t", block_tokens=4, parts=parts))
    assert (space.part_range(0), space.part_range(1), space.block_bytes) == ((0, 1000), (1024, 10), 1034)
    with pytest.raises(kvclient.InvalidArgument):
        space.part_range(2)
