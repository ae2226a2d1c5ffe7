"""keys, match, acquire, release."""

from __future__ import annotations

import array
import gc

import pytest
from helpers import BLOCK_BYTES, acquire_written, check, key_at, make_spec, open_client, pattern, put, tokens

import kvclient


def test_blocks_of_one_client_are_read_by_another(space, reader):
    keys = space.keys(tokens(10))
    written = keys[: 7 * 32]
    put(space, written)
    match = reader.match(keys)
    assert match.ready == 7 and match.states == bytes([1] * 7 + [0] * 3)
    acquire_written(reader, written).release()
    with reader.acquire(keys) as lease:
        check(lease, written)
        assert lease[-1].nbytes == BLOCK_BYTES and lease[0].readonly
        with pytest.raises(IndexError):
            lease[7]
        with pytest.raises(TypeError):
            lease[0][0] = 1


def test_an_unordered_lease_has_an_entry_for_each_key(space, reader):
    keys = space.keys(tokens(6))
    for index in (0, 2, 5):
        put(space, keys[32 * index : 32 * index + 32])
    acquire_written(reader, keys[:32]).release()
    with reader.acquire(keys) as lease:
        assert len(lease) == 1
    with reader.acquire(keys, unordered=True) as lease:
        assert [index for index in range(6) if lease[index] is not None] == [0, 2, 5] and len(lease) == 6
        for index in (0, 2, 5):
            assert lease[index] == pattern(keys[32 * index : 32 * index + 32])
    with pytest.raises(kvclient.Stale):
        lease[0]


def test_what_they_are_is_seen_in_a_shell(client, space):
    keys = space.keys(tokens(2))
    put(space, keys)
    with space.acquire(keys) as lease:
        assert repr(lease) == "Lease(2 blocks)"
    assert repr(lease) == "Lease(released)"
    assert repr(space) == f"Space(4 tokens and 4096 bytes a block, digest {space.digest.hex()[:12]})"
    assert repr(client) == "Client(connected, namespace='default')"
    client.close()
    assert repr(client) in ("Client(not connected, namespace='default')", "Client(closed, namespace='default')")


def test_keys_are_the_chain_of_vllm(space):
    first = space.keys([1, 2, 300, 70000])
    assert first.hex() == "67516cd611fd0d7e4c5c7f6fdbf4d93a304496db502c69895dc6a82deea8ae72"
    assert space.keys([1, 2, 300]) == b""
    both = space.keys([1, 2, 300, 70000, 5, 6, 7, 8, 9])
    assert both[:32] == first and len(both) == 64
    assert space.keys([5, 6, 7, 8], parent=first) == both[32:]


def test_tokens_come_in_many_types(space):
    numbers = [1, 2, 300, 70000]
    expected = space.keys(numbers)
    assert space.keys(tuple(numbers)) == space.keys(array.array("I", numbers)) == expected
    assert space.keys(array.array("i", numbers)) == space.keys(array.array("q", numbers)) == expected
    assert space.keys(memoryview(array.array("I", [9, *numbers]))[1:]) == expected
    for wrong in ([-1] * 4, [2**32] * 4, array.array("i", [-1] * 4)):
        with pytest.raises(kvclient.InvalidArgument):
            space.keys(wrong)
    for wrong in (["a"] * 4, [1.5] * 4, 7):
        with pytest.raises(TypeError):
            space.keys(wrong)


def test_salts_separate_whatever_they_contain(space):
    salts = [b"", b"a", b"a\0", b"a\0b", b"\0", bytes(4096)]
    assert len({space.keys(tokens(1), salt=salt) for salt in salts}) == len(salts)
    with pytest.raises(kvclient.InvalidArgument):
        space.keys(tokens(1), salt=bytes(4097))


def test_memoryviews_raise_after_release(space):
    keys = space.keys(tokens(2))
    put(space, keys)
    lease = space.acquire(keys)
    view = lease[0]
    lease.release()
    lease.release()
    assert len(lease) == 0
    with pytest.raises(ValueError):
        view[0]
    with pytest.raises(kvclient.Stale):
        lease[0]


def test_what_was_made_from_a_view_keeps_its_block(client, space):
    keys = space.keys(tokens(2))
    put(space, keys)
    lease = space.acquire(keys)
    part = lease[1][8:40]
    lease.release()
    assert client.stats()["leases_open"] == 1
    assert bytes(part) == pattern(key_at(keys, 1))[8:40]
    del part
    gc.collect()
    assert client.stats()["leases_open"] == 0


def test_a_lease_that_is_dropped_is_released(client, space):
    keys = space.keys(tokens(1))
    put(space, keys)
    view = space.acquire(keys)[0]
    assert bytes(view) == pattern(keys)
    assert client.stats()["leases_open"] == 1
    del view
    assert client.stats()["leases_open"] == 0


def test_a_lease_outlives_its_client(daemon):
    client = open_client(daemon.socket)
    space = client.space(make_spec())
    keys = space.keys(tokens(1))
    put(space, keys)
    lease = space.acquire(keys)
    client.close()
    client.close()
    check(lease, keys)
    lease.release()
    for call in (client.stats, lambda: space.match(keys), lambda: space.acquire(keys), lambda: space.reserve(keys)):
        with pytest.raises(kvclient.Stale):
            call()
    assert not client.connected


def test_empty_duplicate_and_many_keys(space):
    assert space.match(b"").states == b"" and len(space.acquire(b"")) == 0 and len(space.reserve(b"")) == 0
    key = space.keys(tokens(1))
    put(space, key)
    match = space.match(key * 65536)
    assert match.ready == 65536
    with space.acquire(key * 65536) as lease:
        assert len(lease) == 65536
        assert bytes(lease[65535]) == pattern(key)
    with pytest.raises(kvclient.InvalidArgument):
        space.match(key[:31])
    with pytest.raises(TypeError):
        space.match("text")


def test_keys_may_be_any_buffer_also_unaligned(space):
    keys = space.keys(tokens(3))
    put(space, keys)
    for form in (bytearray(keys), memoryview(keys), memoryview(b"x" + keys)[1:], memoryview(keys)[32:]):
        assert space.match(form).ready == len(form) // 32


def test_all_or_nothing(space):
    keys = space.keys(tokens(3))
    put(space, keys[:64])
    assert len(space.acquire(keys, all_or_nothing=True)) == 0
    assert len(space.acquire(keys[:64], all_or_nothing=True)) == 2


def test_a_verified_acquire_is_one_request_and_counted(daemon, space):
    keys = space.keys(tokens(5))
    put(space, keys)
    with open_client(daemon.socket, verify=True) as wary, open_client(daemon.socket) as client:
        acquire_written(wary.space(make_spec()), keys).release()  # its own slabs are mapped by then
        before = wary.stats()["requests"]
        with wary.space(make_spec()).acquire(keys) as lease:
            check(lease, keys)
        assert wary.stats()["requests"] == before + 1
        other = client.space(make_spec())
        acquire_written(other, keys).release()
        before = client.stats()["requests"]
        other.acquire(keys).release()
        assert client.stats()["requests"] == before
        with other.acquire(keys, verify=True, unordered=True) as lease:
            check(lease, keys)
        stats = client.stats()
        assert stats["requests"] == before + 1
        assert (stats["acquire_unverified"], stats["acquire_corrupt"]) == (0, 0)
