"""The file reader's process: takes paths on standard input, gives texts on standard output."""

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import BinaryIO

from services.search.text.frames import HEADER_BYTES, Request, body_length, encode_text, frame
from services.search.text.reader import read_file

# The serving process kills us at the deadline; if it cannot, we end on our own so much later.
GRACE_S = 10.0


def main() -> None:
    """Serve until standard input ends, which is how the death of the serving process shows."""
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    answers = sys.stdout.buffer
    # Nothing else may write where the answers go.
    sys.stdout = sys.stderr
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    while True:
        request = requests.get()
        answers.write(frame(_answer(request)))
        answers.flush()


def _receive(stream: BinaryIO, requests: "queue.SimpleQueue[Request]") -> None:
    """Pass requests on; pdfium lets other threads run, so the end is noticed during a file too."""
    while len(header := stream.read(HEADER_BYTES)) == HEADER_BYTES:
        requests.put(Request(**json.loads(stream.read(body_length(header)))))
    os._exit(0)


def _answer(request: Request) -> bytes:
    timer = threading.Timer(request.deadline_s + GRACE_S, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
    try:
        text = read_file(
            Path(request.path), request.kind, request.document_id, max_pages=request.max_pages
        )
    finally:
        timer.cancel()
    return encode_text(text)


if __name__ == "__main__":
    main()
