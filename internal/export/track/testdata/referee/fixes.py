"""Reads tracks with gpxpy and geojson, by the rules of the schema of GPX 1.1 and of RFC 7946, and compares the fixes with
those of a JSON file: a list of segments of [time in ns, latitude, longitude, altitude or null, kind of fix or null].
Arguments: the name of the track, the fixes of the GPX file, the GPX file, the fixes of the GeoJSON file, the GeoJSON
file."""
import datetime
import json
import re
import sys
import xml.etree.ElementTree as ET

import geojson
import gpxpy

NAME, GPX_FIXES, GPX, JSON_FIXES, JSON = sys.argv[1:]
SPACE = "{http://www.topografix.com/GPX/1/1}"
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)$")  # xsd:decimal
TIME = re.compile(r"(-?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z$")


def nanoseconds(text):
    whole, fraction = TIME.match(text).groups()
    start = datetime.datetime(1970, 1, 1)
    delta = datetime.datetime.fromisoformat(whole) - start
    return (delta.days * 86400 + delta.seconds) * 10**9 + int(fraction)


def number(text):
    assert DECIMAL.match(text), text
    return float(text)


def gpx():
    root = ET.parse(GPX).getroot()
    assert root.tag == SPACE + "gpx" and root.get("version") == "1.1" and root.get("creator")
    (track,) = root
    assert track.tag == SPACE + "trk"
    name, *segments = track
    assert (name.tag, name.text) == (SPACE + "name", NAME), name.text
    for segment in segments:
        assert segment.tag == SPACE + "trkseg"
        points = []
        for point in segment:
            assert point.tag == SPACE + "trkpt" and set(point.keys()) == {"lat", "lon"}
            latitude, longitude = number(point.get("lat")), number(point.get("lon"))
            assert -90 <= latitude <= 90 and -180 <= longitude < 180
            order = [child.tag.removeprefix(SPACE) for child in point]
            assert order == [t for t in ("ele", "time", "fix") if t in order] and "time" in order, order
            values = {child.tag.removeprefix(SPACE): child.text for child in point}
            assert values.get("fix") in (None, "none", "2d", "3d", "dgps", "pps")
            elevation = number(values["ele"]) if "ele" in values else None
            points.append([nanoseconds(values["time"]), latitude, longitude, elevation, values.get("fix")])
        yield points


def geo():
    checked = geojson.load(open(JSON))  # which rounds the coordinates
    assert checked.is_valid, checked.errors()
    collection = json.load(open(JSON), parse_constant=lambda name: sys.exit(print("not JSON:", name)))
    assert collection["type"] == "FeatureCollection"
    for feature in collection["features"]:
        geometry = feature["geometry"]
        positions = geometry["coordinates"] if geometry["type"] == "LineString" else [geometry["coordinates"]]
        assert geometry["type"] in ("LineString", "Point")
        times = feature["properties"]["coordTimes"]
        assert feature["properties"]["name"] == NAME and len(times) == len(positions)
        yield [[nanoseconds(t), p[1], p[0], p[2] if len(p) > 2 else None] for t, p in zip(times, positions)]


fixes = json.load(open(GPX_FIXES))
assert list(gpx()) == fixes, "GPX"
read = gpxpy.parse(open(GPX))
assert [[[p.latitude, p.longitude, p.elevation, p.type_of_gpx_fix] for p in s.points] for s in read.tracks[0].segments] == \
    [[p[1:] for p in s] for s in fixes], "gpxpy"
lines = json.load(open(JSON_FIXES))
assert list(geo()) == [[p[:4] for p in s] for s in lines], "GeoJSON"
print("compared", sum(map(len, fixes)), sum(map(len, lines)))
