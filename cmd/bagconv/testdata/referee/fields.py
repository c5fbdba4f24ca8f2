"""fields.py CYBER_PYTHON RECORD OUT...: holds what PyPI's rosbags decodes from each OUT, which bagconv made of RECORD,
against what PyPI's cyber_record returns for the same message. Prints a line of JSON for each OUT. A type of a standard
package is checked by the rules of docs/apollo.md, a generated one field by field."""
import hashlib, json, math, os, subprocess, sys, warnings
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import numpy
warnings.filterwarnings('ignore')
from rosbags.highlevel import AnyReader


def ros(v):
    """a message of rosbags as plain values"""
    if hasattr(v, '__dataclass_fields__'):
        return {k: ros(getattr(v, k)) for k in v.__dataclass_fields__ if k != '__msgtype__'}
    if isinstance(v, numpy.ndarray):
        if v.dtype == numpy.uint8:
            return [len(v), hashlib.sha256(v.tobytes()).hexdigest()]
        return [ros(x) for x in v.tolist()]
    if isinstance(v, (list, tuple)):
        return [ros(x) for x in v]
    return v if not isinstance(v, float) or math.isfinite(v) else repr(v)


def same(a, b):
    return a == b or {a, b} <= {'nan', '-nan'} if isinstance(a, (str, float, int)) and isinstance(b, (str, float, int)) else a == b


class Check:
    def __init__(self):
        self.fields, self.problems = 0, []

    def eq(self, path, want, got):
        self.fields += 1
        if not same(want, got):
            self.problems.append('%s: cyber_record has %.80r, rosbags %.80r' % (path, want, got))

    def generated(self, path, p, r):
        if p is None:
            return
        if isinstance(p, dict):
            if set(r) == {'data'} and not isinstance(p.get('data', 0), (dict, int)):
                return  # a type within itself: serialized
            for k, v in p.items():
                if k == '?':
                    continue
                name = k.lower() if k.lower() in r else k.lower() + '_field'
                if name + '_' in r:
                    name += '_'
                if name not in r:
                    self.problems.append('%s.%s is missing in %s' % (path, k, sorted(r)))
                    continue
                self.generated(path + '.' + k, v, r[name])
        elif isinstance(p, list) and not (len(p) == 2 and isinstance(p[1], str) and len(p[1]) == 64):
            if r and len(r) == 2 and isinstance(r[1], str) and len(r[1]) == 64 and isinstance(r[0], int):
                return self.eq(path + ' length', len(p), r[0])
            self.eq(path + ' length', len(p), len(r))
            for i, (x, y) in enumerate(zip(p, r)):
                self.generated('%s[%d]' % (path, i), x, y)
        else:
            self.eq(path, p, r)

    # The types of standard packages.

    def header(self, path, p, r, t, seconds=None, ns=''):
        h = p['header']
        if h.get(ns):
            want = h[ns]
        elif seconds and seconds > 0:
            want = int((Decimal(seconds) * 10**9).to_integral_value(ROUND_HALF_EVEN))
        elif isinstance(h['timestamp_sec'], float) and h['timestamp_sec'] > 0:
            want = int((Decimal(h['timestamp_sec']) * 10**9).to_integral_value(ROUND_HALF_EVEN))
        else:
            want = t
        s = r['header']['stamp']
        self.eq(path + '.header.stamp', want, s['sec'] * 10**9 + s['nanosec'])
        self.eq(path + '.header.frame_id', p.get('frame_id') or h['frame_id'], r['header']['frame_id'])

    def xyz(self, path, p, r):
        for k in 'xyz':
            self.eq(path + '.' + k, p[k], r[k])

    def quaternion(self, path, p, r):
        for k in 'xyzw':
            self.eq(path + '.' + k, p['q' + k], r[k])

    def sensor_msgs_Image(self, path, p, r, t):
        self.header(path, p, r, t, p['measurement_time'], 'camera_timestamp')
        for k in 'height', 'width', 'step', 'data':
            self.eq(path + '.' + k, p[k], r[k])
        self.eq(path + '.encoding', {'gray': 'mono8', 'y': 'mono8', 'yuyv': 'yuv422_yuy2'}.get(p['encoding'], p['encoding']), r['encoding'])

    def sensor_msgs_CompressedImage(self, path, p, r, t):
        self.header(path, p, r, t, p['measurement_time'], 'camera_timestamp')
        for k in 'format', 'data':
            self.eq(path + '.' + k, p[k], r[k])

    def sensor_msgs_PointCloud2(self, path, p, r, t, raw):
        self.header(path, p, r, t, p['measurement_time'], 'lidar_timestamp')
        n = len(p['point'])
        grid = p['width'] * p['height'] == n and n > 0
        self.eq(path + '.width', p['width'] if grid else n, r['width'])
        self.eq(path + '.height', p['height'] if grid else 1, r['height'])
        types = {2: 'u1', 4: '<u2', 6: '<u4', 7: '<f4', 8: '<f8'}
        dt = numpy.dtype({'names': [f.name for f in raw.fields], 'offsets': [f.offset for f in raw.fields],
                          'formats': [types[f.datatype] for f in raw.fields], 'itemsize': raw.point_step})
        points = numpy.frombuffer(raw.data.tobytes(), dt)
        self.eq(path + '.points', n, len(points))
        dense = True
        for i, (x, y) in enumerate(zip(p['point'], points)):
            for k in 'x', 'y', 'z', 'intensity':
                self.eq('%s.point[%d].%s' % (path, i, k), x[k], ros(float(y[k])))
            self.eq('%s.point[%d].timestamp' % (path, i), x['timestamp'] / 10**9, float(y['timestamp']))
            dense = dense and not any(isinstance(x[k], str) for k in 'xyz')
        self.eq(path + '.is_dense', dense, r['is_dense'])

    def sensor_msgs_Imu(self, path, p, r, t):
        self.header(path, p, r, t)
        i = p.get('imu', p)
        self.xyz(path + '.linear_acceleration', i['linear_acceleration'], r['linear_acceleration'])
        self.xyz(path + '.angular_velocity', i['angular_velocity'], r['angular_velocity'])
        if 'orientation' in i.get('?', []):
            self.quaternion(path + '.orientation', i['orientation'], r['orientation'])
        elif 'imu' not in p:
            self.eq(path + '.orientation_covariance', -1, r['orientation_covariance'][0])

    def sensor_msgs_NavSatFix(self, path, p, r, t):
        self.header(path, p, r, t)
        self.eq(path + '.latitude', p['latitude'], r['latitude'])
        self.eq(path + '.longitude', p['longitude'], r['longitude'])
        self.eq(path + '.altitude', p['height_msl'] + p['undulation'], r['altitude'])
        for at, k in (0, 'longitude_std_dev'), (4, 'latitude_std_dev'), (8, 'height_std_dev'):
            self.eq(path + '.position_covariance', p[k] * p[k], r['position_covariance'][at])
        status = {48: 2, 49: 2, 50: 2, 56: 2, 18: 1, 52: 1}.get(p['sol_type'], 0)
        self.eq(path + '.status', -1 if p['sol_status'] or not p['sol_type'] else status, r['status']['status'])

    def nav_msgs_Odometry(self, path, p, r, t):
        h = dict(p, frame_id=p['header']['frame_id'] or r['header']['frame_id'])
        self.header(path, h, r, t, p.get('measurement_time'))
        pose = p.get('pose') or p['localization']
        self.xyz(path + '.position', pose['position'], r['pose']['pose']['position'])
        if 'orientation' in pose.get('?', []) and 'qw' in pose['orientation'].get('?', []):
            self.quaternion(path + '.orientation', pose['orientation'], r['pose']['pose']['orientation'])
        if 'uncertainty' in p.get('?', []) and 'position_std_dev' in p['uncertainty'].get('?', []):
            for i, k in enumerate('xyz'):
                self.eq(path + '.pose.covariance', p['uncertainty']['position_std_dev'][k] ** 2, r['pose']['covariance'][7 * i])

    def tf2_msgs_TFMessage(self, path, p, r, t):
        self.eq(path + ' length', len(p['transforms']), len(r['transforms']))
        for i, (x, y) in enumerate(zip(p['transforms'], r['transforms'])):
            at = '%s[%d]' % (path, i)
            if isinstance(x['header']['timestamp_sec'], float) and x['header']['timestamp_sec'] > 0:
                self.header(at, x, y, t)
            else:
                self.eq(at + '.header.frame_id', x['header']['frame_id'], y['header']['frame_id'])
            self.eq(at + '.child_frame_id', x['child_frame_id'], y['child_frame_id'])
            self.xyz(at + '.translation', x['transform']['translation'], y['transform']['translation'])
            self.quaternion(at + '.rotation', x['transform']['rotation'], y['transform']['rotation'])


def cyber(python, record):
    out = subprocess.run([python, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cyberdump.py'), record], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr[-2000:])
    return [json.loads(line) for line in out.stdout.splitlines()]


want = sorted(cyber(sys.argv[1], sys.argv[2]), key=lambda m: (m['time'], m['topic']))
for path in sys.argv[3:]:
    c = Check()
    with AnyReader([Path(path)]) as reader:
        got = sorted(((t, con.topic, con.msgtype, reader.deserialize(data, con.msgtype)) for con, t, data in reader.messages()), key=lambda m: m[:2])
    if len(got) != len(want):
        c.problems.append('%d messages, cyber_record has %d' % (len(got), len(want)))
    for w, (t, topic, typ, msg) in zip(want, got):
        at = '%s %d' % (topic, t)
        c.eq(at, (w['time'], w['topic']), (t, topic))
        rule = getattr(c, typ.replace('/msg/', '_'), None)
        if rule and typ == 'sensor_msgs/msg/PointCloud2':
            rule(at, w['fields'], ros(msg), t, msg)
        elif rule:
            rule(at, w['fields'], ros(msg), t)
        else:
            c.generated(at, w['fields'], ros(msg))
        if len(c.problems) > 20:
            break
    print(json.dumps({'Out': path, 'Messages': len(got), 'Fields': c.fields, 'Problems': c.problems[:5]}), flush=True)
