"""Recordings by URL: read in ranges, and never mapped."""

import http.server
import pathlib
import re
import threading

import pytest

import bagconv


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one file, in ranges."""

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, body):
        data = self.server.data if self.path == "/drive.bag" else None
        if data is None:
            self.send_error(404)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, len(data) - 1
        if asked:
            first, last = int(asked[1]), min(last, int(asked[2] or last))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.end_headers()
        if body:
            self.wfile.write(data[first : last + 1])

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def url(demo):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.data = pathlib.Path(demo).read_bytes()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_http(url, demo):
    here, there = bagconv.open(demo), bagconv.open(f"{url}/drive.bag")
    assert list(there.topics) == list(here.topics)
    assert there["/imu/data"].arrow().equals(here["/imu/data"].arrow())
    assert [f.tobytes() for f in there["/cam_a/image_raw"].images()] == [
        f.tobytes() for f in here["/cam_a/image_raw"].images()
    ]
    assert [(topic, t) for topic, t, _ in there.messages()] == [(topic, t) for topic, t, _ in here.messages()]


def test_what_is_not_there(url):
    rec = bagconv.open(f"{url}/no.bag")
    with pytest.raises(bagconv.BagconvError, match=r"no\.bag"):
        rec.topics  # noqa: B018
