# Prints what a plain loop with rosbags finds in a bag: a plot, two tracks, the transforms, and the messages of topics.
import json
import math
import sys
from pathlib import Path

from rosbags.highlevel import AnyReader

out = {"times": [], "speeds": [], "track": [], "fixes": [], "edges": {}, "counts": {}}
first = None
with AnyReader([Path(sys.argv[1])]) as bag:
    start = min(t for _, t, _ in bag.messages())
    for connection, time, raw in sorted(bag.messages(), key=lambda m: m[1]):
        out["counts"][connection.topic] = out["counts"].get(connection.topic, 0) + 1
        if connection.topic == "/odom":
            m = bag.deserialize(raw, connection.msgtype)
            out["times"].append((time - start) / 1e9)
            out["speeds"].append(m.twist.twist.linear.x)
            out["track"].append([m.pose.pose.position.x, m.pose.pose.position.y])
        elif connection.topic == "/gps/fix":
            m = bag.deserialize(raw, connection.msgtype)
            first = first or m
            # along the parallel and the meridian, by the radii of the ellipsoid
            a, b = 6378137.0, 6356752.314245
            phi = math.radians(first.latitude)
            root = math.sqrt((a * math.cos(phi)) ** 2 + (b * math.sin(phi)) ** 2)
            out["fixes"].append([
                math.radians(m.longitude - first.longitude) * a * a / root * math.cos(phi),
                math.radians(m.latitude - first.latitude) * (a * b) ** 2 / root**3,
            ])
        elif connection.topic in ("/tf", "/tf_static"):
            for x in bag.deserialize(raw, connection.msgtype).transforms:
                key = f"{connection.topic} {x.header.frame_id} {x.child_frame_id}"
                out["edges"][key] = out["edges"].get(key, 0) + 1
json.dump(out, sys.stdout)
