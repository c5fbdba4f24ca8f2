"""Compares a data set with its recordings of record.py: compare.py SET FPS FRAMES RECORDING...

Of FRAMES random frames (0: all) the state, the action and the pictures have to be those of the last message before the
time of the frame. Rows are read by pyarrow and videos by av, or, with --lerobot, all of it by LeRobotDataset, which also
refuses frames further than 1e-4 s from their timestamp. Recordings are read by rosbags.
"""
import bisect
import random
import sys
from pathlib import Path

import numpy as np

lerobot = '--lerobot' in sys.argv
arguments = [a for a in sys.argv[1:] if a != '--lerobot']
root, fps, wanted, recordings = Path(arguments[0]), int(arguments[1]), int(arguments[2]), arguments[3:]
CAMERAS = ['front', 'wrist']


def read(path):
    from rosbags.highlevel import AnyReader
    streams = {}
    with AnyReader([Path(path)]) as reader:
        for connection, t, raw in reader.messages():
            if connection.topic == '/task':
                continue
            message = reader.deserialize(raw, connection.msgtype)
            times, values = streams.setdefault(connection.topic, ([], []))
            times.append(t)
            values.append(np.concatenate([message.position, message.velocity]) if 'joint' in connection.topic else len(values))
    return streams


class Plain:
    """The data set by pyarrow and av."""

    def __init__(self):
        import pyarrow as pa
        import pyarrow.parquet as pq
        files = sorted(root.glob('data/*/*.parquet'))
        self.rows = pa.concat_tables([pq.read_table(f) for f in files]).to_pylist()
        files = sorted(root.glob('meta/episodes/*/*.parquet'))
        self.episodes = pa.concat_tables([pq.read_table(f) for f in files]).to_pylist()
        self.videos = {}

    def video(self, key, chunk, file):
        import av
        name = root / f'videos/{key}/chunk-{chunk:03d}/file-{file:03d}.mp4'
        if name not in self.videos:
            with av.open(str(name)) as container:
                stream = container.streams.video[0]
                assert stream.average_rate == fps, stream.average_rate
                self.videos[name] = [(float(f.pts * f.time_base), f.to_ndarray(format='rgb24')[:32, :32].copy())
                                     for f in container.decode(stream)]
        return self.videos[name]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        episode = self.episodes[row['episode_index']]
        item = {k: np.asarray(v, np.float32) for k, v in row.items() if k in ('action', 'observation.state')}
        item.update({k: row[k] for k in ('episode_index', 'frame_index', 'index')})
        for camera in CAMERAS:
            key = f'observation.images.{camera}'
            if key in row:
                from io import BytesIO
                from PIL import Image
                item[key] = np.asarray(Image.open(BytesIO(row[key]['bytes'])))[:32, :32]
                continue
            frames = self.video(key, episode[f'videos/{key}/chunk_index'], episode[f'videos/{key}/file_index'])
            t = episode[f'videos/{key}/from_timestamp'] + row['timestamp']
            times = [f[0] for f in frames]
            k = min(range(len(times)), key=lambda k: abs(times[k] - t))
            assert abs(times[k] - t) < 1e-4, (times[k], t)
            item[key] = frames[k][1]
        return item


def opened():
    if not lerobot:
        return Plain()
    from ledataset.datasets.lerobot_dataset import LeRobotDataset
    return LeRobotDataset('local/set', root=root, video_backend='video_reader')


def corner(picture):
    picture = np.asarray(picture)
    if picture.shape[0] == 3:
        picture = picture.transpose(1, 2, 0) * 255
    return picture[8:24, 8:24].astype(float).mean()


data = opened()
streams = [read(r) for r in recordings]
starts = [max(times[0] for times, _ in s.values()) for s in streams]
picks = list(range(len(data)))
if wanted and wanted < len(picks):
    picks = sorted(random.Random(1).sample(picks, wanted))
worst = 0.0
for i in picks:
    item = data[i]
    e, k = int(item['episode_index']), int(item['frame_index'])
    assert int(item['index']) == i, (item['index'], i)
    tick = starts[e] + (k * 10**9 + fps // 2) // fps
    for name, topic in (('observation.state', '/joint_states'), ('action', '/leader/joint_states')):
        times, values = streams[e][topic]
        want = values[bisect.bisect_right(times, tick) - 1].astype(np.float32)
        got = np.asarray(item[name])
        assert np.array_equal(got, want[:len(got)]), (i, name, got, want)
    for camera in CAMERAS:
        times, values = streams[e][f'/{camera}/image/compressed']
        want = 25 * (values[bisect.bisect_right(times, tick) - 1] % 10)
        got = corner(item[f'observation.images.{camera}'])
        worst = max(worst, abs(got - want))
        assert abs(got - want) < 12, (i, camera, got, want)
print(f'{len(picks)} of {len(data)} frames are those of the recordings; the corner differs by {worst:.2f} at most')
