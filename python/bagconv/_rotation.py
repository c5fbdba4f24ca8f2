"""Vectors and quaternions with the operations of tf2's LinearMath, in the same order, so that the results are the same.

A vector is a tuple of three floats, a quaternion x, y, z, w. Quaternions are not normalised: tf2 accepts lengths that
differ from 1 a little, and its rotations scale by them.
"""

from __future__ import annotations

import math

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Rigid = tuple[Quaternion, Vector]  # a rotation, and then a translation

IDENTITY: Rigid = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


def times(q: Quaternion, o: Quaternion) -> Quaternion:
    """Return the rotation that does o first."""
    (ax, ay, az, aw), (bx, by, bz, bw) = q, o
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(q: Quaternion, v: Vector) -> Vector:
    """Return a vector rotated."""
    x, y, z, _ = times(times(q, (v[0], v[1], v[2], 0.0)), (-q[0], -q[1], -q[2], q[3]))
    return x, y, z


def dot(q: Quaternion, o: Quaternion) -> float:
    """Return the sum of the products; of a quaternion with itself the square of its length."""
    return q[0] * o[0] + q[1] * o[1] + q[2] * o[2] + q[3] * o[3]


def slerp(q: Quaternion, o: Quaternion, ratio: float) -> Quaternion:
    """Turn q towards o, the shorter way."""
    product = dot(q, o)
    if product < 0:
        o, product = (-o[0], -o[1], -o[2], -o[3]), -product
    angle = math.acos(min(product / math.sqrt(dot(q, q) * dot(o, o)), 1.0))
    if angle == 0:
        return q
    scale = 1 / math.sin(angle)
    a, b = math.sin((1 - ratio) * angle) * scale, math.sin(ratio * angle) * scale
    return q[0] * a + o[0] * b, q[1] * a + o[1] * b, q[2] * a + o[2] * b, q[3] * a + o[3] * b


def towards(v: Vector, o: Vector, ratio: float) -> Vector:
    """Return the point between v and o."""
    rest = 1 - ratio
    return rest * v[0] + ratio * o[0], rest * v[1] + ratio * o[1], rest * v[2] + ratio * o[2]


def after(r: Rigid, o: Rigid) -> Rigid:
    """Return the transform that does o first."""
    x, y, z = rotate(r[0], o[1])
    return times(r[0], o[0]), (x + r[1][0], y + r[1][1], z + r[1][2])


def inverse(r: Rigid) -> Rigid:
    """Return the transform back."""
    (x, y, z, w), (a, b, c) = r
    back = (-x, -y, -z, w)
    return back, rotate(back, (-a, -b, -c))
