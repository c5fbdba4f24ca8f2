// client.mjs URL CHANNELS MESSAGES: npm's @foxglove/ws-protocol subscribes to all channels of a paused
// server. Then a socket of npm's ws does so by foxglove.sdk.v1, seeks to the start and plays, with
// bytes that are written down here. After so many messages each of them prints a line of
// {topic: [messages, SHA-256 of time and data of each]}.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
const need = createRequire(process.env.BAGCONV_NODE_MODULES + '/x.js');
const { FoxgloveClient } = need('@foxglove/ws-protocol');
const WebSocket = need('ws');
const url = process.argv[2], [channels, n] = process.argv.slice(3).map(Number);

// A counter prints what there is after n messages.
function counter(done) {
  const sums = {};
  let got = 0;
  return (topic, time, data) => {
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(time);
    const s = (sums[topic] ??= [0, createHash('sha256')]);
    s[0]++;
    s[1].update(head).update(data);
    if (++got !== n) return;
    for (const s of Object.values(sums)) s[1] = s[1].digest('hex');
    console.log(JSON.stringify(sums));
    done();
  };
}

const old = {};
old.subscribed = new Promise((subscribed) => {
  old.done = new Promise((done, fail) => {
    const ws = new WebSocket(url, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]);
    const client = new FoxgloveClient({ ws }), topics = new Map();
    const add = counter(() => { client.close(); done(); });
    client.on('error', fail);
    client.on('advertise', (list) => {
      for (const c of list) topics.set(client.subscribe(c.id), c.topic);
      if (topics.size === channels) client.subscribeParameterUpdates([]); // which is refused, in its turn
    });
    client.on('status', subscribed);
    client.on('message', ({ subscriptionId, timestamp, data }) =>
      add(topics.get(subscriptionId), timestamp, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
  });
});

const hex = (text) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const sdk = () => new Promise((done, fail) => {
  const ws = new WebSocket(url, ['foxglove.sdk.v1']), topics = new Map(), start = Buffer.alloc(8);
  const add = counter(() => { ws.close(); done(); });
  ws.on('error', fail);
  ws.on('message', (b, binary) => {
    if (!binary) {
      const m = JSON.parse(b);
      if (m.op === 'serverInfo') {
        if (!m.capabilities.includes('playbackControl')) fail(new Error('no control of the playback'));
        start.writeBigUInt64LE(BigInt(m.dataStartTime.sec) * 1_000_000_000n + BigInt(m.dataStartTime.nsec));
      }
      if (m.op !== 'advertise') return;
      for (const c of m.channels) topics.set(c.id, c.topic);
      ws.send(JSON.stringify({ op: 'subscribe', subscriptions: m.channels.map((c) => ({ id: c.id, channelId: c.id })) }));
      // PlaybackControl: pause, speed 1, seek to the start, id "ab"
      if (topics.size === channels) ws.send(Buffer.concat([hex('03 01 0000803f 01'), start, hex('02000000 6162')]));
      return;
    }
    if (b[0] === 1) add(topics.get(b.readUInt32LE(1)), b.readBigUInt64LE(5), b.subarray(13));
    if (b[0] === 5 && b.subarray(19).toString() === 'ab') {
      // PlaybackState: paused, at the start, speed 1, sought, id "ab"
      const want = Buffer.concat([hex('05 01'), start, hex('0000803f 01 02000000 6162')]);
      if (!b.equals(want)) fail(new Error(`${b.toString('hex')}, want ${want.toString('hex')}`));
      ws.send(hex('03 00 0000a040 00 0000000000000000 00000000')); // play, speed 5, no seek, no id
    }
  });
});
await Promise.race([old.subscribed, old.done]);
await Promise.all([old.done, sdk()]);
