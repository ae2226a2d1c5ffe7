"""One process of the main job: loads the model, answers one prompt, writes what it measured to a file.

Roles: `cached` goes through kvtier; `control` knows nothing of it and computes the same split, prefix and rest.
"""

from __future__ import annotations

import argparse
import json
import time

import kvclient
import numpy as np
from kvclient.llama_cpp import BLOCK_TOKENS, CachedLlama, EngineOptions


def main() -> None:
    job = job_read()
    with open(job.prompt, encoding="utf-8") as file:
        text = file.read()
    answer = control_answer(job, text) if job.role == "control" else cached_answer(job, text)
    np.save(job.out + ".npy", answer.pop("logits"))
    with open(job.out + ".json", "w", encoding="utf-8") as file:
        json.dump(answer, file)


def job_read() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["cached", "control"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", required=True, help="file with the prompt's text")
    parser.add_argument("--out", required=True, help="where to write, without the suffix")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--name", required=True, help="the name that the daemon shows for this process")
    parser.add_argument("--socket")
    parser.add_argument("--salt", default="")
    parser.add_argument("--split", type=int, default=0, help="control: blocks computed before the rest")
    parser.add_argument("--answer-tokens", type=int, default=24)
    return parser.parse_args()


def cached_answer(job: argparse.Namespace, text: str) -> dict:
    options = EngineOptions(n_threads=job.threads)
    with kvclient.Client(socket=job.socket, name=job.name) as client:
        with CachedLlama(job.model, client, options=options, salt=job.salt.encode()) as llama:
            tokens = llama.tokenize(text)
            result = llama.prompt(tokens)
            return {
                "connected": client.connected,
                "tokens": tokens,
                "restored_tokens": result.restored_tokens,
                "stored_tokens": result.stored_tokens,
                "ttft_s": result.ttft_s,
                "store_s": result.store_s,
                "logits": result.logits,
                "answer": llama.detokenize(llama.generate(job.answer_tokens)),
            }


def control_answer(job: argparse.Namespace, text: str) -> dict:
    with CachedLlama(job.model, None, options=EngineOptions(n_threads=job.threads)) as llama:
        tokens = llama.tokenize(text)
        split = job.split * BLOCK_TOKENS
        started = time.perf_counter()
        llama.engine.clear()
        if split:
            llama.engine.decode(tokens[:split], 0)
        llama.engine.decode(tokens[split:], split)
        logits = llama.engine.logits()
        return {"tokens": tokens, "restored_tokens": 0, "ttft_s": time.perf_counter() - started, "logits": logits}


if __name__ == "__main__":
    main()
