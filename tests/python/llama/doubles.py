"""Doubles around a client's space that fail or shorten the next answers. They wrap the fake and the real one alike."""

from __future__ import annotations

import kvclient


class Wrapped:
    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return getattr(self._real, name)


class ClientWith(Wrapped):
    """A client whose spaces are wrapped by `double(space)`."""

    def __init__(self, real, double):
        super().__init__(real)
        self._double = double

    def space(self, spec):
        return self._double(self._real.space(spec))


class LeaseWith:
    """A lease whose block `index` is changed by `damage(view)`."""

    def __init__(self, lease, index, damage):
        self._lease, self._index, self._damage = lease, index, damage

    def __len__(self):
        return len(self._lease)

    def __getitem__(self, index):
        view = self._lease[index]
        return self._damage(view) if index == self._index else view

    def __enter__(self):
        self._lease.__enter__()
        return self

    def __exit__(self, *error):
        return self._lease.__exit__(*error)


def damaged_block(index, damage):
    class Space(Wrapped):
        def acquire(self, keys):
            return LeaseWith(self._real.acquire(keys), index, damage)

    return Space


class Refused:
    buffer = None

    def __init__(self, status):
        self.status = status

    def abort(self):
        pass


def refused_blocks(first, status):
    """Reserves only the blocks before `first`; those from it on have `status`."""

    class Batch:
        def __init__(self, real, count):
            self._real, self._refused = real, [Refused(status)] * (count - first)

        def __len__(self):
            return first + len(self._refused)

        def __getitem__(self, index):
            return self._real[index] if index < first else self._refused[index - first]

        def __enter__(self):
            self._real.__enter__()
            return self

        def __exit__(self, *error):
            return self._real.__exit__(*error)

    class Space(Wrapped):
        def reserve(self, keys, parent=None):
            return Batch(self._real.reserve(keys[: first * 32], parent=parent), len(keys) // 32)

    return Space


class Raising(Wrapped):
    """Every call about blocks raises, as a broken client would."""

    def _raise(self, *_, **__):
        raise kvclient.KvError("staged")

    match = wait = acquire = reserve = _raise
