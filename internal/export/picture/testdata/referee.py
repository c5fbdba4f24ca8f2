# Compares image files with what OpenCV and NumPy make of the raw bytes.
#
#   referee.py DIR     DIR/cases.json lists images and the files made of them; prints a line for each that differs
#   referee.py --make DIR     writes compressed images with Pillow, OpenCV and NumPy, and DIR/made.json
import json, os, re, struct, sys

import cv2
import numpy as np
import tifffile
from PIL import Image


def rows(data, width, height, step, dtype, channels):
    """The samples of packed rows, without padding."""
    n = width * channels * np.dtype(dtype).itemsize
    out = np.empty((height, n), np.uint8)
    for y in range(height):
        out[y] = np.frombuffer(data, np.uint8, n, y * step)
    return out.view(dtype).reshape(height, width, channels)


def planes(c, data, w, h, step):
    """All planes below each other without padding, as OpenCV has YUV 4:2:0."""
    luma = rows(data, w, h, step, 'u1', 1)[:, :, 0]
    rest = data[h * step:]
    if c['encoding'] in ('nv12', 'nv21'):
        colors = rows(rest, w, h // 2, step, 'u1', 1)[:, :, 0]
    else:
        half = rows(rest, w // 2, h, step // 2, 'u1', 1)
        colors = half.reshape(h // 2, w)
    return np.vstack([luma, colors])


def full(c, data, w, h, step):
    """U and V for each pixel: OpenCV has pairs of pixels only, so that each is there twice."""
    luma = rows(data, w, h, step, 'u1', 1)[:, :, 0]
    uv = rows(data[h * step:], w, h, 2 * step, 'u1', 2)
    if c['encoding'] == 'nv42':
        uv = uv[:, :, ::-1]
    pairs = np.stack([uv[:, :, 0], luma, uv[:, :, 1], luma], axis=2).reshape(h, 2 * w, 2)
    return cv2.cvtColor(np.ascontiguousarray(pairs), cv2.COLOR_YUV2RGB_UYVY)[:, ::2]


YUV = {'nv12': cv2.COLOR_YUV2RGB_NV12, 'nv21': cv2.COLOR_YUV2RGB_NV21, 'i420': cv2.COLOR_YUV2RGB_I420, 'yv12': cv2.COLOR_YUV2RGB_YV12}
PAIRS = {'uyvy': cv2.COLOR_YUV2RGB_UYVY, 'yuv422': cv2.COLOR_YUV2RGB_UYVY, 'yuyv': cv2.COLOR_YUV2RGB_YUYV, 'yuv422_yuy2': cv2.COLOR_YUV2RGB_YUYV}
# ROS names the first row, OpenCV the second from its second pixel.
BAYER = {'rggb': cv2.COLOR_BayerBG2RGB, 'bggr': cv2.COLOR_BayerRG2RGB, 'gbrg': cv2.COLOR_BayerGR2RGB, 'grbg': cv2.COLOR_BayerGB2RGB}
SWAP = {'bgr': cv2.COLOR_BGR2RGB, 'bgra': cv2.COLOR_BGRA2RGBA}


def expected(c, data):
    w, h, step, e = c['width'], c['height'], c['step'], c['encoding']
    order = '>' if c['big'] else '<'
    if e in YUV:
        return cv2.cvtColor(planes(c, data, w, h, step), YUV[e])
    if e in ('nv24', 'nv42'):
        return full(c, data, w, h, step)
    if e in PAIRS:
        return cv2.cvtColor(np.ascontiguousarray(rows(data, w, h, step, 'u1', 2)), PAIRS[e])
    m = re.fullmatch(r'(8|16|32|64)([USF])C(\d*)', e)
    if m:
        t = order + {'U': 'u', 'S': 'i', 'F': 'f'}[m[2]] + str(int(m[1]) // 8)
        return rows(data, w, h, step, t, int(m[3] or 1))
    m = re.fullmatch(r'(bayer_)?([a-z]+)(8|16)', e)
    t = order + 'u' + str(int(m[3]) // 8)
    pixels = rows(data, w, h, step, t, 1 if m[1] else {'mono': 1}.get(m[2], len(m[2])))
    pixels = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder('=')))
    if m[1]:
        return cv2.cvtColor(pixels[:, :, 0], BAYER[m[2]]) if c['debayer'] else pixels
    return cv2.cvtColor(pixels, SWAP[m[2]]) if m[2] in SWAP else pixels


def read(path):
    """The samples of a file by all readers that can."""
    if path.endswith('.npy'):
        return [('numpy', np.load(path))]
    out = []
    if path.endswith('.tiff'):
        out.append(('tifffile', tifffile.imread(path)))
        if out[0][1].dtype in (np.float32, np.float64) and out[0][1].ndim != 3 or out[0][1].shape[-1] in (3, 4):
            out.append(('opencv', opencv(path)))
        if out[0][1].dtype == np.float32 and out[0][1].ndim == 2:
            out.append(('pillow', np.array(Image.open(path))))
        return out
    out.append(('opencv', opencv(path)))
    if out[0][1].dtype == np.uint8 or out[0][1].ndim == 2:
        out.append(('pillow', np.array(Image.open(path))))
    return out


def opencv(path):
    a = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if a is None:
        raise ValueError('opencv cannot read ' + path)
    if a.ndim == 3 and a.shape[2] in (3, 4):
        a = a[:, :, [2, 1, 0, 3][:a.shape[2]]]
    return a


def compare(c, data):
    want = expected(c, data)
    if want.ndim == 3 and want.shape[2] == 1:
        want = want[:, :, 0]
    for reader, got in read(c['file']):
        if got.shape != want.shape or got.dtype.newbyteorder('=') != want.dtype.newbyteorder('='):
            yield f"{reader}: {got.shape} {got.dtype}, want {want.shape} {want.dtype}"
        elif got.astype(got.dtype.newbyteorder('=')).tobytes() != want.astype(want.dtype.newbyteorder('=')).tobytes():
            d = np.argwhere(got != want)
            at = tuple(d[0]) if len(d) else ()
            yield f"{reader}: {len(d)} samples differ, the first at {at}: {got[at]}, want {want[at]}"


def check(folder):
    cases = json.load(open(os.path.join(folder, 'cases.json')))
    for c in cases:
        data = open(c['raw'], 'rb').read()
        try:
            for wrong in compare(c, data):
                print(c['name'], wrong)
        except Exception as e:
            print(c['name'], type(e).__name__, e)
    print('compared', len(cases))


def rvl(a):
    """RVL from the paper, by strings of bits."""
    out = []

    def number(n):
        while True:
            n, low = n >> 3, n & 7
            out.append(low | (8 if n else 0))
            if not n:
                return

    flat, i, last = a.flatten().astype(int).tolist(), 0, 0
    while i < len(flat):
        start = i
        while i < len(flat) and flat[i] == 0:
            i += 1
        number(i - start)
        start = i
        while i < len(flat) and flat[i] != 0:
            i += 1
        number(i - start)
        for v in flat[start:i]:
            d = v - last
            number(2 * d if d >= 0 else -2 * d - 1)
            last = v
    out += [0] * (-len(out) % 8)
    words = [int(''.join('%x' % n for n in out[k:k + 8]), 16) for k in range(0, len(out), 8)]
    return struct.pack('<II', a.shape[1], a.shape[0]) + struct.pack('<%dI' % len(words), *words)


def make(folder):
    r = np.random.default_rng(7)
    made = []

    def add(name, format, data, ext, want=None):
        path = os.path.join(folder, name)
        open(path, 'wb').write(data)
        if want is not None:
            np.save(path + '.want.npy', want)
        made.append({'path': path, 'format': format, 'ext': ext, 'same': want is None})

    photo = r.integers(0, 256, (20, 30, 3), np.uint8)
    for kind, ext in {'JPEG': 'jpg', 'PNG': 'png', 'WEBP': 'webp', 'TIFF': 'tiff', 'GIF': 'gif', 'BMP': 'bmp', 'JPEG2000': 'jp2',
                      'AVIF': 'avif', 'PPM': 'ppm'}.items():
        path = os.path.join(folder, 'x')
        Image.fromarray(photo).save(path, kind)
        add('pillow-' + kind, 'rgb8; jpeg compressed bgr8', open(path, 'rb').read(), ext)
    for ext in ('jpg', 'png', 'webp', 'tiff', 'bmp', 'hdr', 'avif', 'gif'):
        ok, b = cv2.imencode('.' + ext, photo)
        if ok:
            add('opencv-' + ext, 'png', b.tobytes(), ext)
    shapes = [(1, 1), (7, 9), (48, 64)]
    for n, (h, w) in enumerate(shapes):
        for kind in ('noise', 'smooth', 'holes', 'empty', 'large'):
            d = {'noise': r.integers(0, 65536, (h, w)), 'smooth': 1000 + np.add.outer(np.arange(h), np.arange(w)),
                 'holes': np.where(r.random((h, w)) < 0.5, 0, 3000 + r.integers(-9, 9, (h, w))), 'empty': np.zeros((h, w)),
                 'large': np.where(r.random((h, w)) < 0.5, 65535, 1)}[kind].astype(np.uint16)
            png = cv2.imencode('.png', d)[1].tobytes()
            a, b = np.float32(1500.0 + n), np.float32(-0.5 * n)
            header = struct.pack('<iff', 0, a, b)
            depth = np.where(d == 0, np.float32('nan'), a / (d.astype(np.float32) - b)).astype(np.float32)
            add(f'depth-{kind}-{n}', '16UC1; compressedDepth', header + png, 'png', d)
            add(f'rvl-{kind}-{n}', '16UC1; compressedDepth rvl', header + rvl(d), 'png', d)
            add(f'float-{kind}-{n}', '32FC1; compressedDepth png', header + png, 'npy', depth)
            add(f'float-rvl-{kind}-{n}', '32FC1; compressedDepth rvl', header + rvl(d), 'npy', depth)
    json.dump(made, open(os.path.join(folder, 'made.json'), 'w'))


def judge(folder):
    """Compares the files that were made of those of make."""
    n = 0
    with np.errstate(all='ignore'):
        for m in json.load(open(os.path.join(folder, 'made.json'))):
            if m['same']:
                continue
            want = np.load(m['path'] + '.want.npy')
            for reader, got in read(m['path'] + '.out.' + m['ext']):
                n += 1
                if got.shape != want.shape or got.dtype != want.dtype or not np.array_equal(got, want, equal_nan=got.dtype.kind == 'f'):
                    print(m['path'], reader, 'differs')
    print('compared', n)


with np.errstate(all='ignore'):
    {'--make': make, '--judge': judge}.get(sys.argv[1], check)(sys.argv[-1])
