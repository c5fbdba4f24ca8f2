// read.mjs FILE.mcap...: what npm's @mcap/core reads of each file, as a stream with its checksums
// compared and by the index: a line of {"path", "stream", "index"} for each, each with
// {"messages", "topics": {name: SHA-256 of log time, publish time, sequence and data}, "attachments", "metadata"}. A file may be a URL: by the index it is read in ranges then.
import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
const need = createRequire(process.env.BAGCONV_NODE_MODULES + '/x.js');
const { McapIndexedReader, McapStreamReader } = need('@mcap/core');
const { loadDecompressHandlers } = need('@mcap/support');
const decompressHandlers = await loadDecompressHandlers();

function collect() {
  const topics = {}, out = { messages: 0, topics, attachments: 0, metadata: 0 };
  return {
    message(topic, m) {
      out.messages++;
      const head = Buffer.alloc(24);
      head.writeBigUInt64LE(m.logTime, 0);
      head.writeBigUInt64LE(m.publishTime, 8);
      head.writeUInt32LE(m.sequence, 16);
      head.writeUInt32LE(m.data.byteLength, 20);
      (topics[topic] ??= createHash('sha256')).update(head).update(m.data);
    },
    out,
    end() {
      for (const t of Object.keys(topics)) topics[t] = topics[t].digest('hex');
      return out;
    },
  };
}

async function local(path) {
  const file = await open(path), { size } = await file.stat();
  const read = async (at, n) => new Uint8Array((await file.read(Buffer.alloc(Number(n)), 0, Number(n), Number(at))).buffer);
  return { readable: { size: async () => BigInt(size), read }, close: () => file.close() };
}

async function remote(url) {
  const head = await fetch(url, { method: 'HEAD' }), tag = head.headers.get('etag');
  if (head.headers.get('accept-ranges') !== 'bytes' || !tag) throw new Error(url + ': no ranges, or no ETag');
  const read = async (at, n) => {
    const answer = await fetch(url, { headers: { Range: `bytes=${at}-${at + n - 1n}`, 'If-Range': tag, Origin: 'http://localhost:3000' } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (answer.status !== 206 || bytes.length !== Number(n)) throw new Error(`${url}: ${answer.status}, ${bytes.length} bytes of ${n}`);
    return bytes;
  };
  return { readable: { size: async () => BigInt(head.headers.get('content-length')), read }, close: async () => {} };
}

for (const path of process.argv.slice(2)) {
  const stream = collect(), reader = new McapStreamReader({ decompressHandlers, validateCrcs: true }), names = new Map();
  const url = path.startsWith('http:');
  reader.append(url ? new Uint8Array(await (await fetch(path)).arrayBuffer()) : await readFile(path));
  for (let r; (r = reader.nextRecord()); ) {
    if (r.type === 'Channel') names.set(r.id, r.topic);
    if (r.type === 'Message') stream.message(names.get(r.channelId), r);
    if (r.type === 'Attachment') stream.out.attachments++;
    if (r.type === 'Metadata') stream.out.metadata++;
  }
  if (!reader.done()) throw new Error(path + ': the stream has no end');
  const { readable, close } = url ? await remote(path) : await local(path);
  const indexed = await McapIndexedReader.Initialize({ readable, decompressHandlers }), index = collect();
  for await (const m of indexed.readMessages({ validateCrcs: true })) index.message(indexed.channelsById.get(m.channelId).topic, m);
  index.out.attachments = indexed.attachmentIndexes.length;
  index.out.metadata = indexed.metadataIndexes.length;
  await close();
  console.log(JSON.stringify({ path, stream: stream.end(), index: index.end() }));
}
