"""server.py MESSAGES LARGE: a server of PyPI's foxglove-sdk on a free port, which it prints as a line of JSON. When
all its channels are subscribed to, it sends so many messages of 100 bytes in three encodings, 10,000 a second, and
LARGE ones of 6 MB beside them, 30 a second. It then prints what each channel has sent, as a line of
{topic: [messages, SHA-256 of time and data of each]}, and stays until its input ends."""

import hashlib
import json
import struct
import sys
import threading
import time

import foxglove
from foxglove import Channel, Schema
from foxglove.websocket import ServerListener

messages, large = int(sys.argv[1]), int(sys.argv[2])
# A FileDescriptorSet of x.proto with a message x.Bytes without fields: what it has is unknown to it.
DESCRIPTORS = b"\x0a\x15\x0a\x07x.proto\x12\x01x\x22\x07\x0a\x05Bytes"
channels = {
    "/json": Channel("/json", message_encoding="json", schema=Schema(name="Text", encoding="jsonschema", data=b'{"type":"object"}')),
    "/proto": Channel("/proto", message_encoding="protobuf", schema=Schema(name="x.Bytes", encoding="protobuf", data=DESCRIPTORS)),
    "/cdr": Channel("/cdr", message_encoding="cdr", schema=Schema(name="std_msgs/msg/String", encoding="ros2msg", data=b"string data\n"), metadata={"place": "left"}),
    "/large": Channel("/large", message_encoding="cdr", schema=Schema(name="std_msgs/msg/String", encoding="ros2msg", data=b"string data\n")),
}
sums = {name: [0, hashlib.sha256()] for name in channels}
ready, wanted = threading.Event(), set(channels)


class Listener(ServerListener):
    def on_subscribe(self, client, channel):
        wanted.discard(channel.topic)
        if not wanted:
            ready.set()


def text(i, size):
    """A std_msgs/msg/String in CDR."""
    return struct.pack("<4sI", b"\0\1\0\0", size + 1) + (b"%d " % i).ljust(size, b".") + b"\0"


def send(name, at, data):
    channels[name].log(data, log_time=at)
    sums[name][0] += 1
    sums[name][1].update(struct.pack("<Q", at) + data)


server = foxglove.start_server(name="peer", port=0, server_listener=Listener(), message_backlog_size=1_000_000)
print(json.dumps(server.port), flush=True)
if not ready.wait(30):
    sys.exit("nobody subscribes to all channels")
first, begin = 1_700_000_000_000_000_000, time.monotonic()
for i in range(messages):
    wait = begin + i / 10_000 - time.monotonic()
    if wait > 0.002:
        time.sleep(wait)
    at = first + i * 100_000
    kind = ("/json", "/proto", "/cdr")[i % 3]
    if kind == "/json":
        data = b'{"i":%d,"text":"' % i
        data += b"." * (98 - len(data)) + b'"}'
    elif kind == "/proto":  # field 1, 98 bytes
        data = b"\x0a\x62" + (b"%d" % i).ljust(98)
    else:
        data = text(i, 91)
    send(kind, at, data)
    if i % 333 == 0 and i // 333 < large:
        send("/large", at, text(i, 6_000_000))
print(json.dumps({name: [n, s.hexdigest()] for name, (n, s) in sums.items()}), flush=True)
sys.stdin.read()
server.stop()
