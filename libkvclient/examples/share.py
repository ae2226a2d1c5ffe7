"""share.c in Python: the same model, prompt and bytes, so that each of the examples reads what another one computed.

KVTIER_SOCKET names a socket other than the default.
"""

import sys

import kvclient

MODEL = kvclient.Spec(
    model="example",
    revision="1",
    tokenizer="1",
    block_tokens=16,
    parts=[
        kvclient.Part("kv", bytes=65536, layers=(0, 1), kv_heads=1, head_dim=64, dtype="f16", layout="token,head,dim")
    ],
)


def compute_missing(space, keys):
    computed = 0
    with space.reserve(keys) as slots:
        for index, slot in enumerate(slots):
            if slot.status == "new":  # others: there already, or being computed, or no room
                slot.buffer[:] = bytes([index + 1]) * space.block_bytes
                computed += 1
        slots.commit(wait=True)
    return computed


def main():
    with kvclient.Client() as client:
        if not client.connected:
            sys.exit(f"no daemon: {client.status()['last_error']}")
        space = client.space(MODEL)
        tokens = [1, 2, 3] + [0] * (4 * space.block_tokens - 3)  # the prompt
        keys = space.keys(tokens)
        space.restore(keys)  # what only a disk has comes back into memory; nothing there: no round trip
        computed = compute_missing(space, keys)
        with space.acquire(keys) as lease:
            for index in range(len(lease)):
                print(f"block {index} begins with {lease[index][0]}")
            print(f"computed {computed}, read {len(lease)} of {len(keys) // 32}")


main()
