"""reserve(claim=False): slots that were granted ahead of need."""

from __future__ import annotations

from helpers import check, key_at, pattern, tokens

# Far more calls than the first few, which find no stock yet.
CALLS_MAX = 100


def put_one(space, key, **how) -> bool:
    """Whether a block was new, and made."""
    slot = space.reserve(key, **how)[0]
    if slot.status != "new":
        return False
    slot.buffer[:] = pattern(key)
    return slot.commit(wait=True)


def fill_stock(client, space) -> None:
    for number in range(CALLS_MAX):
        put_one(space, space.keys(tokens(1, 1000 + number)), claim=False)
        if client.stats()["reserve_stocked"] > 0:
            return
    raise AssertionError("no call found a stock")


def test_a_block_without_claim_is_nobody_elses_business_until_its_commit(client, space, reader):
    fill_stock(client, space)
    keys = space.keys(tokens(1))
    before = client.stats()
    with space.reserve(keys, claim=False) as batch:
        assert client.stats()["requests"] == before["requests"]
        assert reader.match(keys).states == b"\0"
        batch[0].buffer[:] = pattern(key_at(keys, 0))
        assert batch.commit(wait=True)
    assert reader.match(keys).states == b"\1"
    with space.acquire(keys) as lease:
        assert len(lease) == 1
        check(lease, keys)


def test_who_commits_second_is_told(client, space):
    fill_stock(client, space)
    keys = space.keys(tokens(1))
    slot = space.reserve(keys, claim=False)[0]
    assert put_one(space, keys)
    assert not slot.commit(wait=True)
    assert [slot.status for slot in space.reserve(keys, claim=False)] == ["exists"]
