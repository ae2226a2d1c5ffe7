/* libkvclient: KV cache blocks shared by the inference engines of one host. The C contract.
 *
 * Rules for all calls
 *   Errors      A kvc_code is returned; kvc_last_error() has the text, for this thread. No C++ exception leaves a
 *               call: without memory it answers KVC_SYSTEM and has done nothing.
 *   Out         Every out argument that is not NULL is set whatever is returned, also where another argument is NULL:
 *               on failure to NULL, 0, "", KVC_MISSING, or a slot without data; structs to all 0 but struct_size (one
 *               that is too small is not touched). What a call changes (leases; the slots of kvc_commit and kvc_abort)
 *               stays as it was when the call refuses its arguments.
 *   Fails open  While the daemon is away, calls of the data path answer KVC_UNAVAILABLE with everything missing.
 *               Nothing blocks on a dead daemon; the library reconnects by itself and registers its spaces again.
 *   Deadlines   `deadline_ns` is relative, in nanoseconds; 0 means the client's default. Only calls that take
 *               one may block; kvc_commit and kvc_abort may wait for room in a full ring, at most the default.
 *               Calls with a deadline look at it every few hundred keys, so that one over very many keys ends at it
 *               too, with what it has; the first few hundred are always done.
 *   Threads     Any call from any thread, except that one lease, one spec and one array of slots belong to one
 *               thread at a time.
 *   Fork        In a child every handle from before the fork answers KVC_STALE; open a new client there.
 *               Pointers into blocks are not mapped in a child.
 *   Exec        Close every client before the process replaces itself (execve). What a client still has then comes
 *               back only when the process exits: the daemon cannot tell it from one that reads on.
 *   Signals     SIGPIPE is never raised. All signals are blocked in the library's own thread.
 *   Options     Structs begin with struct_size = sizeof; fields beyond a caller's struct_size count as 0. A size
 *               that no version of the struct ever had (too small), and flags that a call does not know, are
 *               KVC_INVALID.
 */
#ifndef KVCLIENT_KVCLIENT_H
#define KVCLIENT_KVCLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVC_API __attribute__((visibility("default")))

/* Raised when a call or struct changes meaning; additions keep it. Compare with kvc_abi_version(). */
#define KVC_ABI_VERSION 1

/* The closed set of outcomes; numbers never change. */
enum kvc_code {
  KVC_OK = 0,
  KVC_INVALID = 1,      /* the arguments are wrong; the text names the field. Do not retry. */
  KVC_NOT_FOUND = 2,    /* a miss */
  KVC_EXISTS = 3,       /* there already, in memory or on disk: kvc_restore and acquire it */
  KVC_PENDING = 4,      /* another client computes it: kvc_wait */
  KVC_NO_SPACE = 5,     /* memory is short; the cause says who holds it. Go on without the cache */
  KVC_DENIED = 6,       /* this peer may not do that */
  KVC_UNAVAILABLE = 7,  /* the daemon is away: treat as a miss */
  KVC_DEADLINE = 8,     /* the deadline passed; what was ready is reported */
  KVC_STALE = 9,        /* the handle is of an earlier session or of before a fork: drop it */
  KVC_VERSION = 10,     /* client and daemon do not speak a common protocol; the text has both versions */
  KVC_CORRUPT = 11,     /* bytes failed a check; a miss */
  KVC_BUSY = 12,        /* a bounded queue is full, or the object is in use */
  KVC_UNSUPPORTED = 13, /* this kernel or build cannot do it */
  KVC_SYSTEM = 14       /* the operating system refused; the text has call and errno */
};

/* Why there was no space, or KVC_STALE. */
enum kvc_cause {
  KVC_CAUSE_NONE = 0,
  KVC_CAUSE_TIER_FULL = 1,
  KVC_CAUSE_PINNED_BY = 2, /* leases or pins hold the rest; `detail` is the pid that holds most */
  KVC_CAUSE_QUOTA = 3,
  KVC_CAUSE_WRITER_BUSY = 4, /* a process has reserved the room, or does not answer: `detail` is its pid */
  KVC_CAUSE_REQUEST_TOO_LARGE = 5,
  KVC_CAUSE_INVALIDATED =
      6, /* with KVC_STALE: the space is being invalidated, or was after the reservation. The
                                handle stays good: compute and reserve anew */
  KVC_CAUSE_INDEX_FULL = 7,
  KVC_CAUSE_WRITE_BUDGET = 8, /* kvc_sync: no more may be written today */
  KVC_CAUSE_DISK_FULL = 9     /* kvc_sync: the NVMe tier had no room */
};

/* State of a block as kvc_match sees it. */
enum kvc_block_state {
  KVC_MISSING = 0,
  KVC_READY = 1,
  KVC_STATE_PENDING = 2, /* another client computes it, or it comes back from disk: kvc_wait */
  KVC_STATE_ON_DISK = 3  /* not in memory, but on disk: kvc_restore brings it back */
};

enum kvc_flag {
  KVC_REQUIRE = 1,        /* kvc_client_open: fail unless the daemon answers */
  KVC_READ_ONLY = 2,      /* kvc_client_open: never reserve */
  KVC_UNORDERED = 4,      /* kvc_acquire: every block that is ready, not only the leading ones */
  KVC_ALL_OR_NOTHING = 8, /* kvc_acquire, kvc_reserve */
  KVC_WAIT = 16,          /* kvc_commit, kvc_abort: return when the daemon has done it */
  KVC_NO_CLAIM = 32,      /* kvc_reserve: from the stock, without a round trip */
  KVC_VERIFY =
      64 /* kvc_acquire: only blocks whose bytes match their checksum. kvc_client_open: at every acquire */
};

typedef struct kvc_client kvc_client; /* a connection that heals itself */
typedef struct kvc_spec kvc_spec;     /* what makes KV bytes interchangeable */
typedef struct kvc_space kvc_space;   /* a registered spec: the blocks of one meaning */
typedef struct kvc_lease kvc_lease;   /* blocks that are pinned for reading; reusable storage */

/* 32 bytes: an engine's own block hash as it is, or what kvc_keys_from_tokens gives. All zero: no key. */
typedef struct kvc_key {
  uint64_t words[4];
} kvc_key;

/* ---- about the library ---- */

KVC_API uint32_t kvc_abi_version(void);
KVC_API const char* kvc_version(void);       /* of the library, static */
KVC_API const char* kvc_code_name(int code); /* "no_space", static */
KVC_API const char* kvc_cause_name(int cause);
/* Text of the last call of this thread that did not return KVC_OK. Valid until the thread's next call. */
KVC_API const char* kvc_last_error(void);
/* For bindings of languages that must react to a signal (Ctrl-C) inside a call that blocks. While this thread waits in
 * one, `check` is called about every 50 ms; once it returns other than 0, that call, and further ones until the next
 * kvc_set_interrupt, end as if their deadline had passed. NULL: none. check may not call the library. */
KVC_API void kvc_set_interrupt(int (*check)(void* context), void* context);

/* ---- client ---- */

typedef struct kvc_client_options {
  size_t struct_size;
  const char* socket_path;    /* NULL: $KVTIER_SOCKET, else /run/kvtier/kvtierd.sock */
  const char* namespace_name; /* NULL: "default" */
  const char* client_name;    /* NULL: the program's name; shown by kvctl */
  uint64_t deadline_ns;       /* default of all calls; 0: one second */
  uint32_t flags;             /* KVC_REQUIRE, KVC_READ_ONLY, KVC_VERIFY */
  uint32_t reserved;
} kvc_client_options;

/* Connects. options may be NULL. An error is what a person has to mend: KVC_INVALID (an option), KVC_DENIED (socket or
 * namespace), KVC_NOT_FOUND (namespace), KVC_VERSION, KVC_UNSUPPORTED; KVC_SYSTEM where the client cannot have its thread.
 * All else passes, and is none without KVC_REQUIRE: a daemon that is away, silent, full (KVC_BUSY) or short of something
 * (KVC_NO_SPACE, KVC_SYSTEM). The client goes on trying; kvc_status has why in last_error. Close with kvc_client_close. */
KVC_API int kvc_client_open(const kvc_client_options* options, kvc_client** client);
/* Ends the session. Leases stay readable until released, slots writable until committed or aborted, which loses
 * them; everything else made from it answers KVC_STALE, calls of other threads that are under way included.
 * NULL is fine. In a child of fork it only forgets. */
KVC_API void kvc_client_close(kvc_client* client);
/* A round trip to the daemon. */
KVC_API int kvc_ping(kvc_client* client, uint64_t deadline_ns);

/* KVC_REFUSED: as an error of kvc_client_open, but later; it goes on trying. */
enum kvc_connection { KVC_CONNECTED = 1, KVC_CONNECTING = 2, KVC_REFUSED = 3, KVC_CLOSED = 4 };

typedef struct kvc_client_status {
  size_t struct_size;
  uint32_t connection; /* enum kvc_connection */
  uint32_t namespace_id;
  uint64_t session_id;     /* 0: none */
  uint64_t sessions_count; /* handshakes that succeeded */
  uint64_t resumed_count;  /* of those, how many took the earlier session up again */
  uint32_t protocol_major; /* the library's */
  uint32_t protocol_minor;
  uint32_t daemon_protocol_major; /* 0: not known yet */
  uint32_t daemon_protocol_minor;
  uint64_t mapped_bytes; /* slabs */
  uint32_t slabs_count;
  uint32_t is_read_only;
  char daemon_version[32];
  char socket_path[128];
  char last_error[256]; /* why there is no connection */
} kvc_client_status;

/* No round trip. */
KVC_API int kvc_status(kvc_client* client, kvc_client_status* status);

typedef struct kvc_client_stats {
  size_t struct_size;
  uint64_t match_calls, match_keys, match_ready;
  uint64_t acquire_calls, acquire_keys, acquire_leased; /* keys asked for, keys leased */
  uint64_t leases_open;                                 /* leases that hold blocks now */
  uint64_t reserve_keys, reserve_new;
  uint64_t commit_blocks, abort_blocks;
  uint64_t reservations_open;
  uint64_t requests, requests_late; /* sent on the ring; answered after their deadline or not yet */
  uint64_t unavailable, deadline_exceeded;
  uint64_t reserve_stocked; /* of reserve_new, those without a round trip (KVC_NO_CLAIM) */
  /* KVC_VERIFY: blocks that were there and are not in acquire_leased, since their checksum did not come in time, or did
   * not match */
  uint64_t acquire_unverified, acquire_corrupt;
} kvc_client_stats;

/* Of this client, since it was opened. No round trip. */
KVC_API int kvc_stats(kvc_client* client, kvc_client_stats* stats);

/* ---- spec ---- */

typedef struct kvc_spec_options {
  size_t struct_size;
  const char* model;     /* must be said */
  const char* revision;  /* must be said: lineage of the weights */
  const char* adapter;   /* NULL or "": none */
  const char* tokenizer; /* must be said: a hash */
  const char* codec;     /* NULL: "raw" */
  uint32_t block_tokens; /* 1 to 4096 */
  uint32_t reserved;
} kvc_spec_options;

typedef struct kvc_part {
  size_t struct_size;
  const char* name; /* "kv", "swa", "mamba", ...; distinct */
  uint64_t bytes;   /* of one block */
  uint32_t layer_first, layer_count;
  uint32_t kv_heads, head_dim;
  const char* dtype;  /* "f16", "bf16", "f8_e4m3", "i8", "q8_0", ... */
  const char* layout; /* dimension order, strides, K/V packing; must be said */
} kvc_part;

typedef struct kvc_shard {
  size_t struct_size;
  uint32_t kv_head_first, kv_head_count;
  uint32_t max_tp;
  uint32_t layer_first, layer_count;
} kvc_shard;

KVC_API int kvc_spec_create(const kvc_spec_options* options, kvc_spec** spec);
/* Parts lie in a block in the order of these calls, each at a multiple of 64 bytes. */
KVC_API int kvc_spec_add_part(kvc_spec* spec, const kvc_part* part);
KVC_API int kvc_spec_set_shard(kvc_spec* spec, const kvc_shard* shard);
KVC_API int kvc_spec_set_rope(kvc_spec* spec, const char* name, const char* value);
KVC_API int kvc_spec_set_extra(kvc_spec* spec, const char* name, const char* value);
/* KVC_INVALID with the name of the first field that is wrong. */
KVC_API int kvc_spec_check(const kvc_spec* spec);
/* SHA-256 of the canonical encoding. */
KVC_API int kvc_spec_digest(const kvc_spec* spec, kvc_key* digest);
/* Copies the encoding if it fits; *bytes is its length either way (KVC_NO_SPACE: too short a buffer). */
KVC_API int kvc_spec_encode(const kvc_spec* spec, void* buffer, size_t capacity, size_t* bytes);
/* The first field in which two specs differ, with both values; "" when they are equal. Cut to capacity. */
KVC_API int kvc_spec_difference(const kvc_spec* a, const kvc_spec* b, char* text, size_t capacity);
KVC_API void kvc_spec_destroy(kvc_spec* spec);

/* ---- space ---- */

/* Registers the spec in the client's namespace; the spec is copied. While the daemon is away the handle is
 * made all the same and registered later. A refusal is an error and makes no handle. */
KVC_API int kvc_space_register(kvc_client* client, const kvc_spec* spec, uint64_t deadline_ns,
                               kvc_space** space);
/* Its leases and slots stay usable. NULL is fine. */
KVC_API void kvc_space_close(kvc_space* space);

typedef struct kvc_space_facts {
  size_t struct_size;
  uint64_t block_bytes;
  uint32_t block_tokens;
  uint32_t parts_count;
  uint32_t is_registered; /* with the daemon, now */
  uint32_t reserved;
  kvc_key digest;
} kvc_space_facts;

KVC_API int kvc_space_info(const kvc_space* space, kvc_space_facts* facts);
/* Where part i lies in a block. */
KVC_API int kvc_space_part(const kvc_space* space, uint32_t i, uint64_t* offset, uint64_t* bytes);

/* Keys of all full blocks of `tokens` (the chain that vLLM calls sha256_cbor). salt: any bytes, at most 4096,
 * NULL with 0 for none; parent: the key of the block before the first token, NULL at the start of a sequence.
 * *count is the number of full blocks; keys has room for `capacity`, KVC_INVALID when that is too few. */
KVC_API int kvc_keys_from_tokens(const kvc_space* space, const uint32_t* tokens, size_t tokens_count,
                                 const void* salt, size_t salt_bytes, const kvc_key* parent, kvc_key* keys,
                                 size_t capacity, size_t* count);

/* ---- reading: no round trip, no lock, no allocation, no system call, but for KVC_VERIFY ---- */

/* What is there now: *ready is the number of leading blocks that are ready, states[i] a kvc_block_state
 * (NULL: not wanted, and the search ends at the first block that is not ready). Takes no lease, pins nothing,
 * does not count as a use. Any number of keys. */
KVC_API int kvc_match(kvc_space* space, const kvc_key* keys, size_t count, uint8_t* states, size_t* ready);

/* Storage for at most `capacity` blocks without allocating; a longer acquire makes it grow. */
KVC_API int kvc_lease_create(kvc_client* client, size_t capacity, kvc_lease** lease);
KVC_API void kvc_lease_destroy(kvc_lease* lease); /* releases first. NULL is fine */

/* Leases the longest ready prefix of keys. KVC_UNORDERED: every one that is ready. KVC_ALL_OR_NOTHING: all of
 * them or none. The lease must be empty (KVC_BUSY) and of the space's client (KVC_INVALID). A leased block neither moves nor changes until
 * kvc_release, however long that takes. KVC_OK with nothing leased is a miss. A block in memory that the namespace has
 * just been given, and this client has yet to map, is one too, although kvc_match has it: kvc_wait ends with it mapped.
 * request_id (0: none) goes into the access log.
 *
 * KVC_VERIFY, for the wary: the library asks the daemon for the leased blocks' checksums, one round trip each 4096, at
 * most the client's default deadline, and reads every byte. What does not match, or has no checksum by then (it is taken
 * at once for who asks), is as if it were missing: the prefix ends before it, an entry is not held, all or nothing is
 * nothing. The code is KVC_OK then, and kvc_last_error() names the first such key. The daemon looks at what did not match
 * itself, and takes it out if it is damaged. KVC_UNAVAILABLE: the daemon is gone, nothing is leased. KVC_DEADLINE: it did
 * not answer; what was verified before is leased. KVC_UNSUPPORTED: it is older than checksums (protocol 1.2), nothing is
 * leased. What is checked is that the bytes are those of a moment after the commit; a writer that still can may change
 * them later. */
KVC_API int kvc_acquire(kvc_space* space, const kvc_key* keys, size_t count, uint32_t flags,
                        uint64_t request_id, kvc_lease* lease);
/* Ends the lease of all its blocks: their pointers must not be read any more. The storage stays. */
KVC_API void kvc_release(kvc_lease* lease);

/* Entries: the length of the prefix; with KVC_UNORDERED the number of keys asked for. */
KVC_API size_t kvc_lease_count(const kvc_lease* lease);
/* Blocks that are really held. */
KVC_API size_t kvc_lease_held(const kvc_lease* lease);
/* Read-only; NULL for an entry that is not held. kvc_lease_block_bytes() bytes each, until kvc_release. */
KVC_API const void* const* kvc_lease_blocks(const kvc_lease* lease);
KVC_API size_t kvc_lease_block_bytes(const kvc_lease* lease);

/* ---- writing ---- */

/* A reservation. The caller owns the array; the private fields must come back as they were. */
typedef struct kvc_slot {
  void* data;      /* writable, block_bytes long, while code is KVC_OK; else NULL */
  int32_t code;    /* KVC_OK: fill it, then commit or abort. KVC_EXISTS, KVC_PENDING, KVC_NO_SPACE, ... */
  int32_t cause;   /* kvc_cause */
  uint32_t detail; /* KVC_CAUSE_PINNED_BY, _WRITER_BUSY: a pid */
  uint32_t private_slot;
  uint32_t private_hold[2];
  uint64_t private_session;
} kvc_slot;

typedef struct kvc_reserve_options {
  size_t struct_size;
  const kvc_key* parent; /* of keys[0]; NULL: it begins a chain. keys[i] follows keys[i-1] */
  uint64_t deadline_ns;
  uint32_t flags; /* KVC_ALL_OR_NOTHING: at most 4096 keys. KVC_NO_CLAIM */
  uint32_t reserved;
} kvc_reserve_options;

/* Asks for room. slots[i].code is set whatever is returned (KVC_UNAVAILABLE where the answer did not come); every slot
 * with KVC_OK must be committed or aborted. KVC_OK: answered. KVC_NO_SPACE: all-or-nothing, and not all fit. With
 * KVC_OK kvc_last_error() has the text of the first slot that failed by itself, such as KVC_INVALID for a key that is
 * zero or there twice; all-or-nothing refuses the whole call for one: KVC_INVALID, in every slot too.
 *
 * KVC_NO_CLAIM: for a caller that would compute the blocks anyway. Keys that are there, or that others have
 * claimed, are answered from shared memory; the missing ones get slots of the client's stock (at most 64 slots, of
 * all its spaces, granted ahead of need and asked for again by the library), without a round trip, a wait or an
 * allocation. Nobody else learns of them before the commit: several may compute the same block, and all but the
 * first lose, which a kvc_commit with KVC_WAIT shows as KVC_EXISTS or KVC_PENDING (another has claimed it); a key
 * that is there twice loses to itself. When the stock has too few for all missing keys, as at the first call of a
 * space and after the daemon was short of memory, the whole call is an ordinary one: a round trip, with claim,
 * within deadline_ns. A slot has the same duties either way, and comes back at the process's exit. */
KVC_API int kvc_reserve(kvc_space* space, const kvc_key* keys, size_t count,
                        const kvc_reserve_options* options, kvc_slot* slots);
/* Makes the filled blocks visible, in order, each with all its parts at once. Slots without KVC_OK are skipped. Does
 * not wait for the daemon unless KVC_WAIT is given: then each slot's code says what became of it, and the first that is
 * not KVC_OK is returned. data becomes NULL. KVC_EXISTS, KVC_PENDING: reserved without claim, and another was first.
 * KVC_STALE: the slots are of an earlier session or (cause KVC_CAUSE_INVALIDATED) of a space that was invalidated
 * meanwhile; their blocks are lost. KVC_INVALID: a slot was reserved through another client: nothing was done, every
 * slot is as it was. KVC_INVALID as a slot's code: it was committed or aborted before, through a copy; the others are
 * done. KVC_DEADLINE: the daemon stands still, or the slots were too many for the time. A slot that still has its data
 * (code KVC_OK) was not handed over and is as it was: commit it again, or abort it; until then others find it pending.
 * One without, which there is only with KVC_WAIT, was handed over, and what becomes of it is not known. */
KVC_API int kvc_commit(kvc_space* space, kvc_slot* slots, size_t count, uint32_t flags, uint64_t deadline_ns);
/* As kvc_commit with KVC_WAIT, and leases the blocks without a moment in between in which one could leave memory: for a
 * caller that goes on reading what it wrote. The lease must be empty (KVC_BUSY) and of the space's client
 * (KVC_INVALID). It has an entry a slot, in order; one that is not held says why in slots[i].code: KVC_EXISTS has the
 * block of another client, which kvc_acquire may still find. A slot that was handed over is KVC_OK exactly when its entry is
 * held, also where the answer did not come: who holds a block knows that it is there. */
KVC_API int kvc_commit_acquire(kvc_space* space, kvc_slot* slots, size_t count, uint64_t deadline_ns,
                               kvc_lease* lease);
/* Gives the room back; clients that wait for these blocks are told. Otherwise as kvc_commit, but that no slot is left
 * over: what cannot be handed over before the deadline the library hands over later (KVC_OK; with KVC_WAIT
 * KVC_DEADLINE). */
KVC_API int kvc_abort(kvc_space* space, kvc_slot* slots, size_t count, uint32_t flags, uint64_t deadline_ns);

/* ---- copying ---- */

/* For engines that cannot work in place: memcpy for what is large, past the caches (non-temporal stores), so that a
 * block does not drive the engine's own data out and a copy into a slot costs half of memcpy's memory traffic. No
 * overlap. The bytes are in no cache afterwards; a commit that follows publishes them all. Any thread. */
KVC_API void kvc_copy(void* to, const void* from, size_t bytes);

/* ---- waiting, pinning, invalidating ---- */

/* Until none of the keys is pending and what is ready can be acquired. states and ready as in kvc_match, as of the
 * end. KVC_DEADLINE: some are pending still, or ready in memory that this client could not map yet, or the keys were too
 * many to look up in the time: the others say KVC_MISSING. */
KVC_API int kvc_wait(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                     uint8_t* states, size_t* ready);
/* As kvc_wait, after asking the daemon to bring what is on disk only back into memory. It checks every byte that it
 * reads: a block that is not what was stored is KVC_MISSING, never wrong. Any number of processes may ask for the same
 * blocks: each is read once. KVC_NO_SPACE: some found no room in memory, kvc_last_error() says why; the others are
 * there. A block that is back leaves memory again like any other: acquire it soon. */
KVC_API int kvc_restore(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                        uint8_t* states, size_t* ready);
/* Keeps blocks from eviction for ttl_ns (1 ns to 24 h), also after the client closed. A second pin replaces the expiry of
 * this client's own; those of other clients stay as they are, of which a block keeps the two that last longest. *pinned:
 * how many are there, or on KVC_NO_SPACE and KVC_DEADLINE how many are pinned for certain. pinned may be NULL. */
KVC_API int kvc_pin(kvc_space* space, const kvc_key* keys, size_t count, uint64_t ttl_ns,
                    uint64_t deadline_ns, size_t* pinned);
/* Ends this client's pins, and those of clients that closed: nobody else's. */
KVC_API int kvc_unpin(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns);
/* `count` keys, or with NULL and 0 all of the space, onto the NVMe tier. KVC_OK: what was committed before is there behind an
 * fdatasync: it survives a power cut, not eviction. *durable, *unsaved (or NULL): blocks. Else the first reason: KVC_NO_SPACE
 * (budget, size), _UNAVAILABLE, _UNSUPPORTED (no tier, protocol before 1.3), _NOT_FOUND, _SYSTEM (fdatasync), _DEADLINE. */
KVC_API int kvc_sync(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                     uint64_t* durable, uint64_t* unsaved);
/* Removes every block of the space, or of the whole namespace, reservations included. *blocks: how many; may
 * be NULL. */
KVC_API int kvc_invalidate(kvc_space* space, uint64_t deadline_ns, uint64_t* blocks);
KVC_API int kvc_invalidate_namespace(kvc_client* client, uint64_t deadline_ns, uint64_t* blocks);

#ifdef __cplusplus
}
#endif

#endif /* KVCLIENT_KVCLIENT_H */
