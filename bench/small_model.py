"""
Serve a small chat model on this machine, for bench/with_model.py and the marked tests: an OpenAI-compatible endpoint on loopback.

    pip install xllamacpp                           # a server in a Python package; CPU alone
    python bench/small_model.py MODEL.gguf [PORT]   # prints the address, and serves until its input ends

One thread and one request at a time: several threads of a small model on a busy machine take ten times the time of the processor.
"""

from __future__ import annotations

import sys

CONTEXT_TOKENS = 8_192


def main(path: str, port: int) -> None:
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path = path
    given.hostnames = ["127.0.0.1"]
    given.port, given.n_parallel, given.n_ctx = port, 1, CONTEXT_TOKENS
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.sampling.temp = 0.0
    server = xllamacpp.Server(given)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
