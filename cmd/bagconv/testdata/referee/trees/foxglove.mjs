// foxglove.mjs JOBS: reads bags with npm's @foxglove/rosbag, and the CDR of rosbag2 folders (as lines of JSON, which ros.py
// has written) with @foxglove/rosmsg2-serialization, and compares every message with the truth.
// BAGCONV_NODE_MODULES is the folder that has them.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.env.BAGCONV_NODE_MODULES), "from.js"));
const { Bag } = require("@foxglove/rosbag");
const { FileReader } = require("@foxglove/rosbag/node");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader: ROS1Reader } = require("@foxglove/rosmsg-serialization");
const { MessageReader } = require("@foxglove/rosmsg2-serialization");

const view = new DataView(new ArrayBuffer(8));

// canonical writes a single value as the truth writes it; kind is the first letter of what it should be.
function canonical(v, kind) {
  switch (typeof v) {
    case "boolean":
      return v;
    case "string":
      return "s" + v;
    case "bigint":
      return "i" + v;
    case "number":
      if (kind !== "f") return "i" + v;
      if (Number.isNaN(v)) return "fnan";
      view.setFloat64(0, v);
      return "f" + view.getBigUint64(0).toString(16).padStart(16, "0");
    case "object":
      if (kind === "t" && "sec" in v) return "t" + (BigInt(v.sec) * 1000000000n + BigInt(v.nanosec ?? v.nsec));
  }
  return "? " + String(v);
}

// differ returns "", or how a decoded value differs from the truth.
function differ(want, got, at, seq) {
  if (Array.isArray(want)) {
    if (got?.length !== want.length) return `${at}: ${got?.length} values, there should be ${want.length}`;
    for (let i = 0; i < want.length; i++) {
      const d = differ(want[i], got[i], `${at}[${i}]`, seq);
      if (d) return d;
    }
    return "";
  }
  if (typeof want === "object") {
    let names = Object.keys(want);
    if (names.join() === "seq,stamp,frame_id" && !seq) names = names.slice(1);
    const extra = Object.keys(got).filter((k) => !names.includes(k) && k !== "seq");
    if (extra.length > 0) return `${at}: has ${extra}`;
    for (const k of names) {
      if (!Object.hasOwn(got, k)) return `${at}: no ${k}`;
      const d = differ(want[k], got[k], `${at}.${k}`, seq);
      if (d) return d;
    }
    return "";
  }
  const v = canonical(got, String(want)[0]);
  return v === want ? "" : `${at}: ${v}, it should be ${want}`;
}

class Judge {
  constructor(job, reader) {
    const without = new Set(job.Without ?? []);
    this.out = { Path: job.Path, Reader: reader, Messages: 0, Problems: [] };
    this.seq = job.Seq;
    const lines = readFileSync(job.Truth, "utf8").trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));
    this.left = new Map(lines.filter((m) => !without.has(m.topic)).map((m) => [`${m.topic} ${m.time}`, m.value]));
  }
  problem(text) {
    this.out.Problems.push(text);
  }
  message(topic, time, decode) {
    const key = `${topic} ${time}`;
    const want = this.left.get(key);
    if (!this.left.delete(key)) return this.problem(`${key}: no such message was written`);
    try {
      const d = differ(want, decode(), "", this.seq);
      this.out.Messages++;
      if (d) this.problem(key + d);
    } catch (e) {
      this.problem(`${key}: ${e}`);
    }
  }
  done() {
    if (this.left.size > 0) this.problem(`${this.left.size} messages are missing, the first: ${this.left.keys().next().value}`);
    console.log(JSON.stringify(this.out));
  }
}

// reading returns a function that reads a message of a type; each definition is parsed once.
function reading(parseOne) {
  const readers = new Map();
  return (key, text, data) => {
    if (!readers.has(key)) readers.set(key, parseOne(text));
    return readers.get(key).readMessage(data);
  };
}

async function bag(job) {
  const judge = new Judge(job, "@foxglove/rosbag");
  const read = reading((text) => new ROS1Reader(parse(text)));
  try {
    const bag = new Bag(new FileReader(job.Path), { parse: false }); // which would end at the first type that it does not know
    await bag.open();
    for await (const m of bag.messageIterator()) {
      const time = BigInt(m.timestamp.sec) * 1000000000n + BigInt(m.timestamp.nsec);
      judge.message(m.topic, time, () => read(m.connectionId, bag.connections.get(m.connectionId).messageDefinition, m.data));
    }
  } catch (e) {
    judge.problem(String(e));
  }
  judge.done();
}

function db3(job) {
  const judge = new Judge(job, "@foxglove/rosmsg2-serialization");
  const read = reading((text) => new MessageReader(parse(text, { ros2: true })));
  for (const line of readFileSync(job.Path + ".ndjson", "utf8").split("\n")) {
    if (line === "") continue;
    const [topic, type, text, time, data] = JSON.parse(line);
    judge.message(topic, time, () => read(type, text, Buffer.from(data, "base64")));
  }
  judge.done();
}

for (const job of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  await { bag, db3 }[job.Format](job);
}
