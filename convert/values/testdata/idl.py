"""Random IDL types with unions, optional members, maps and so on, and messages of them, by cyclonedds.

usage: idl.py SEED TYPES MESSAGES. Prints a line of JSON for each type: its name, its IDL, and messages
with their values as bagconv writes them in JSON.
"""
import base64
import json
import random
import sys
from collections import OrderedDict
from typing import Dict, Optional

from cyclonedds import idl
from cyclonedds.idl import Endianness
from cyclonedds.idl import annotations as an
from cyclonedds.idl import types as t

seed, types, messages = (int(a) for a in sys.argv[1:4])
rnd = random.Random(seed)

INTS = {"int8": t.int8, "uint8": t.uint8, "int16": t.int16, "uint16": t.uint16, "int32": t.int32, "uint32": t.uint32,
        "int64": t.int64, "uint64": t.uint64}
WORDS = dict(INTS, boolean=bool, float=t.float32, double=t.float64, octet=t.byte)
ENUMS = seed % 2 == 0  # lists of enums instead of maps: together the sizes that it leaves out are ambiguous
made = []  # (idl name, Python class, value maker, is a union)
count = 0


def number(word):
    if word == "boolean":
        v = rnd.random() < 0.5
        return v, v
    if word == "octet":
        v = rnd.randrange(256)
        return v, v
    if word in ("float", "double"):
        v = rnd.choice([0.0, 1.5, -2.25, 1e10, round(rnd.gauss(0, 400)) / 4])  # exact in both
        return v, v
    bits = int(word.lstrip("uint"))
    low, high = (0, 2**bits - 1) if word[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)
    v = rnd.choice([low, high, 0, 1, rnd.randint(low, high)])
    return v, str(v) if bits == 64 else v


def text():
    return rnd.choice(["", "a", "map", "Gr\u00fc\u00dfe", "with \"quotes\"", "x" * 40])


# A kind is (text before the name, text after it, Python type, maker of (value, JSON), is it a list, blob)
def simple():
    c = rnd.randrange(10)
    if c < 5:
        word = rnd.choice(list(WORDS))
        return word, "", WORDS[word], lambda: number(word), word
    if c < 7:
        def make():
            s = text()
            return s, s
        return "string", "", str, make, None
    if c < 8 and made:
        name, cls, make = rnd.choice(made)
        return name, "", cls, make, None
    return color()


def color():
    def make():
        v = rnd.choice(list(Color))
        return v, v.value
    return "p::Color", "", Color, make, "enum"


def sequence(inner, bound=None):
    before, after, typ, make, word = inner
    assert after == ""
    if word == "enum" and not ENUMS:
        return sequence(simple(), bound)

    def many():
        pairs = [make() for _ in range(rnd.choice([0, 1, 2, 3]) if bound is None else rnd.randint(0, bound))]
        return [p[0] for p in pairs], blob(word, [p[1] for p in pairs])
    if bound is None:
        return "sequence<%s>" % before, "", t.sequence[typ], many, None
    return "sequence<%s, %d>" % (before, bound), "", t.sequence[typ, bound], many, None


def blob(word, values):
    if word in ("octet", "uint8"):
        return base64.b64encode(bytes(values)).decode()
    return values


def array(inner):
    before, after, typ, make, word = inner
    if word == "enum" and not ENUMS:
        return array(simple())
    n = rnd.choice([1, 2, 5])

    def many():
        pairs = [make() for _ in range(n)]
        return [p[0] for p in pairs], blob(word, [p[1] for p in pairs])
    return before, "[%d]" % n, t.array[typ, n], many, None


def nested():
    """A list of lists: structs with the list as data."""
    before, _, typ, make, _ = sequence(simple())

    def many():
        pairs = [make() for _ in range(rnd.randrange(3))]
        return [p[0] for p in pairs], [{"data": p[1]} for p in pairs]
    return "sequence<%s>" % before, "", t.sequence[typ], many, None


def mapping():
    if ENUMS:
        return nested()
    word = rnd.choice(list(INTS) + ["string", "string"])
    before, after, typ, make, _ = simple() if rnd.random() < 0.7 else sequence(simple())

    def many():
        values, out = {}, []
        for _ in range(rnd.randrange(4)):
            k, j = number(word) if word != "string" else (text(),) * 2
            if k in values:
                continue
            v, w = make()
            values[k] = v
            out.append({"key": j, "value": w})
        return values, out
    key = INTS.get(word, str)
    return "map<%s, %s>" % (word, before), "", Dict[key, typ], many, None


def kind(fancy=True):
    c = rnd.randrange(10)
    if c < 4:
        return simple()
    if c < 6:
        return sequence(simple(), rnd.choice([None, 4]))
    if c < 7:
        return array(simple())
    if not fancy:
        return color()
    return mapping() if c < 9 else nested()


def annotation(cls, union=False):
    a = rnd.choice(["final", "appendable"] + ([] if union else ["mutable"]))
    return "@" + a, getattr(an, a)(cls)


def structure():
    global count
    count += 1
    name = "S%d" % count
    fields, text_, makers, ids = OrderedDict(), [], [], {}
    for i in range(rnd.randint(1, 6)):
        field = "f%d" % i
        before, after, typ, make, _ = kind()
        note = ""
        if rnd.random() < 0.35:
            note = "@optional "
            # absent, a value, or an array; a list is the data of a struct
            listed = before.startswith(("sequence", "map"))
            typ = Optional[typ]

            def maybe(make=make, after=after, listed=listed, before=before):
                if rnd.random() < 0.4:
                    return None, blob(base(before), []) if after else None
                v, j = make()
                return v, {"data": j} if listed else j
            makers.append((field, maybe))
        else:
            makers.append((field, make))
        if rnd.random() < 0.2:
            ids[field] = {"id": 100 + i}
            note += "@id(%d) " % (100 + i)
        elif rnd.random() < 0.1:
            ids[field] = {"hash_id": field.encode()}
            note += "@hashid "
        fields[field] = typ
        text_.append("    %s%s %s%s;" % (note, before, field, after))
    cls = idl.make_idl_struct(name, "p." + name, fields, field_annotations=ids)
    ann, cls = annotation(cls)

    def make():
        values, out = {}, {}
        for field, maker in makers:
            values[field], out[field] = maker()
        return cls(**values), out
    body = "  %s struct %s {\n%s\n  };\n" % (ann, name, "\n".join(text_))
    made.append(("p::" + name, cls, make))
    return name, body, cls, make


def union():
    global count
    count += 1
    name = "U%d" % count
    disc = rnd.choice(["int32", "uint8", "int16", "int64", "enum"])
    labels = [c for c in Color] if disc == "enum" else rnd.sample(range(0, 100), 6)
    fields, text_, cases = OrderedDict(), [], []
    for i in range(rnd.randint(1, 4)):
        field = "m%d" % i
        before, after, typ, make, _ = kind(fancy=False)
        mine = [labels.pop() for _ in range(min(len(labels), rnd.choice([1, 1, 2])))]
        last = not mine
        if last or i == 3 and rnd.random() < 0.5:
            fields[field] = t.default[typ]
            text_.append("    default: %s %s%s;" % (before, field, after))
            cases.append((field, after, before, make, [None]))
            break
        fields[field] = t.case[mine, typ]
        names = [l.name if disc == "enum" else str(l) for l in mine]
        text_.append("    %s %s %s%s;" % (" ".join("case %s:" % n for n in names), before, field, after))
        cases.append((field, after, before, make, mine))
    cls = idl.make_idl_union(name, "p." + name, fields, Color if disc == "enum" else INTS[disc])
    ann, cls = annotation(cls, union=True)

    def make():
        chosen = rnd.choice(cases)
        v, j = chosen[3]()
        d = rnd.choice(chosen[4])
        if d is None:
            free = [l for l in (list(Color) if disc == "enum" else [100, 101]) if all(l not in c[4] for c in cases)]
            if not free:
                return make()
            d = rnd.choice(free)
        out = {"discriminator": d.value if disc == "enum" else str(d) if disc == "int64" else d}
        for field, after, before, _, _ in cases:
            lists = after != "" or before.startswith("sequence")
            out[field] = j if field == chosen[0] else blob(base(before), []) if lists else None
        return cls(discriminator=d, value=v), out
    body = "  %s union %s switch (%s) {\n%s\n  };\n" % (ann, name, "Color" if disc == "enum" else disc, "\n".join(text_))
    made.append(("p::" + name, cls, make))
    return name, body, cls, make


def base(before):
    """The word that blob takes, of a list or array whose type begins so."""
    for w in ("octet", "uint8"):
        if before in (w, "sequence<%s>" % w, "sequence<%s, 4>" % w):
            return w
    return None


Color = idl.make_idl_enum("Color", "p.Color", OrderedDict(RED=0, GREEN=1, BLUE=2))
bodies = "  enum Color { RED, GREEN, BLUE };\n"
while types > 0:
    name, body, cls, make = union() if rnd.random() < 0.3 else structure()
    bodies += body
    if name[0] == "U":
        continue
    types -= 1
    if "mutable" in body and len(made) > 1 and rnd.random() < 0.2:
        made.pop()
    out = []
    for _ in range(messages):
        value, js = make()
        for version2 in (False, True):
            end = rnd.choice([Endianness.Little, Endianness.Big])
            data = value.serialize(endianness=end, use_version_2=version2)
            out.append({"hex": data.hex(), "value": js})
    print(json.dumps({"name": "p::" + name, "idl": "module p {\n%s};\n" % bodies, "messages": out}))
