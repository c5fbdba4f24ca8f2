"""LOG LINES: compares what bagconv cat --bytes prints (LINES) with what PyPI's pyulog reads of a ULog file."""
import base64
import collections
import contextlib
import io
import json
import math
import sys

import numpy
from pyulog import ULog

problems = []
messages = values = 0
with contextlib.redirect_stdout(io.StringIO()):
    log = ULog(sys.argv[1])
rows = collections.defaultdict(list)
for line in open(sys.argv[2]):
    row = json.loads(line)
    rows[row['topic']].append(row)


def check(what, got, want):
    if got != want:
        problems.append('%s: %.300r, pyulog reads %.300r' % (what, got, want))


def flat(prefix, value):
    """Yields the path of each number, as pyulog names it."""
    if isinstance(value, dict):
        for key, v in value.items():
            yield from flat(prefix + '.' + key if prefix else key, v)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flat('%s[%d]' % (prefix, i), v)
    else:
        yield prefix, value


def same(got, want, kind):
    if kind in ('float', 'double'):
        got = numpy.float32(got) if kind == 'float' else float(got)
        return math.isnan(got) and math.isnan(want) or got == want and math.copysign(1, got) == math.copysign(1, want)
    if kind == 'bool':
        return isinstance(got, bool) and got == bool(want)
    return int(got) == (int(want) & 255 if kind == 'char' else int(want))


for data in log.data_list:
    topic = '/px4/' + data.name + ('_%d' % data.multi_id if data.multi_id else '')
    got = rows.pop(topic, [])
    check('messages of ' + topic, len(got), len(data.data['timestamp']))
    if problems:
        continue
    fields = {f.field_name: f.type_str for f in data.field_data if '_padding' not in f.field_name}
    for i, row in enumerate(got):
        messages += 1
        check('%s, time %d' % (topic, i), int(row['time']), int(data.data['timestamp'][i]) * 1000)
        seen = {}
        for path, value in flat('', row['fields']):
            if path not in fields and path + '[0]' in fields:  # bytes
                for k, byte in enumerate(base64.b64decode(value)):
                    seen['%s[%d]' % (path, k)] = byte
            else:
                seen[path] = value
        check('%s, fields of %d' % (topic, i), sorted(seen), sorted(fields))
        for path in seen.keys() & fields.keys():
            values += 1
            if not same(seen[path], data.data[path][i], fields[path]):
                check('%s, %s of %d' % (topic, path, i), seen[path], data.data[path][i])

texts = [(m.timestamp * 1000, chr(m.log_level), 'px4', m.message) for m in log.logged_messages]
texts += [(m.timestamp * 1000, chr(m.log_level), 'px4.%d' % tag, m.message) for tag, of in log.logged_messages_tagged.items() for m in of]
names = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug']
check('texts', sorted((int(r['time']), str(names.index(r['fields']['function'])), r['fields']['name'], r['fields']['msg'])
                      for r in rows['/px4/log']), sorted(texts))


def parameter(row, kind):
    (p,) = row['fields'][kind]
    value = p['value']
    return p['name'], int(value['integer_value']) if value['type'] == 2 else value['double_value']


events = rows['/px4/parameter_events']
check('parameters', dict(parameter(r, 'new_parameters') for r in events if r['fields']['new_parameters']), log.initial_parameters)
check('changed parameters', [(int(r['time']), *parameter(r, 'changed_parameters')) for r in events if r['fields']['changed_parameters']],
      [(time * 1000, name, value) for time, name, value in log.changed_parameters])
defaults = {0: {}, 1: {}}
for r in rows['/px4/parameter_defaults']:
    for bit, name in enumerate(['system', 'configuration']):
        if name in r['fields']['node']:
            key, value = parameter(r, 'new_parameters')
            defaults[bit][key] = value
check('defaults', defaults, {bit: log.get_default_parameters(bit) for bit in range(2)})
messages += sum(len(rows.pop(topic, [])) for topic in ('/px4/log', '/px4/parameter_events', '/px4/parameter_defaults'))
check('other topics', sorted(rows), [])
print(json.dumps({'Messages': messages, 'Values': values, 'Problems': problems[:9]}))
