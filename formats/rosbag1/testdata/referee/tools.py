"""Runs commands of the reference tool, Debian's rosbag, on bags, for TestRefereePython: in
one process, which loads the libraries once.

For each file one line of JSON with the exit status and the output of each command.
"""
import contextlib
import io
import json
import sys

import rosbag


def command(*line):
    out, status = io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            rosbag.rosbagmain(['rosbag', *line])
        except SystemExit as end:
            status = end.code or 0
    return dict(status=status, output=out.getvalue())


for path in sys.argv[1:]:
    print(json.dumps(dict(info=command('info', '-y', path), check=command('check', path), reindex=command('reindex', '-f', '-q', path))))
