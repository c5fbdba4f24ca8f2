"""Makes recordings of an arm with two cameras, for tests: record.py OUT SECONDS SEED WIDTHxHEIGHT.

/joint_states and /leader/joint_states at 100 Hz, two JPEG cameras at 30 Hz, all with jitter, and a task. The corner of
picture i has the gray level 25 * (i % 10), so that a reader sees which picture it has.
"""
import io
import sys

import numpy as np
from PIL import Image
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

store = get_typestore(Stores.ROS2_HUMBLE)
types = store.types
out, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
width, height = map(int, sys.argv[4].split('x'))
rng = np.random.default_rng(seed)
names = ['shoulder', 'elbow', 'wrist', 'gripper']
start = 1_700_000_000_000_000_000 + seed * 1_000_000_000_000
messages = []


def header(t):
    stamp = types['builtin_interfaces/msg/Time'](sec=t // 10**9, nanosec=t % 10**9)
    return types['std_msgs/msg/Header'](stamp=stamp, frame_id='arm')


def joints(t, position):
    return types['sensor_msgs/msg/JointState'](header=header(t), name=names, position=position, velocity=position / 10,
                                               effort=np.zeros(0))


for i in range(int(seconds * 100)):
    t = start + i * 10_000_000 + int(rng.integers(0, 2_000_000))
    position = np.sin(i * 0.01 + np.arange(4) + seed)
    messages.append((t, '/joint_states', joints(t, position)))
    messages.append((t + 1000, '/leader/joint_states', joints(t + 1000, position + 0.01)))

for camera in ('front', 'wrist'):
    small = Image.fromarray(rng.integers(0, 255, (max(1, height // 8), max(1, width // 8), 3), dtype=np.uint8))
    base = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC)).astype(int)
    base = np.clip(base + rng.integers(-12, 12, base.shape), 0, 255).astype(np.uint8)
    for i in range(int(seconds * 30)):
        t = start + 3_000_000 + i * 1_000_000_000 // 30 + int(rng.integers(0, 5_000_000))
        picture = np.roll(base, i * 3, axis=1).copy()
        picture[:32, :32] = 25 * (i % 10)
        data = io.BytesIO()
        Image.fromarray(picture).save(data, 'jpeg', quality=95)
        image = types['sensor_msgs/msg/CompressedImage'](header=header(t), format='jpeg',
                                                         data=np.frombuffer(data.getvalue(), np.uint8))
        messages.append((t, f'/{camera}/image/compressed', image))
messages.append((start, '/task', types['std_msgs/msg/String'](data=f'pick the cube {seed % 2}')))
messages.sort(key=lambda m: m[0])

with Writer(out, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
    topics = {}
    for t, topic, message in messages:
        if topic not in topics:
            topics[topic] = writer.add_connection(topic, message.__msgtype__, typestore=store)
        writer.write(topics[topic], t, store.serialize_cdr(message, message.__msgtype__))
