// publish.mjs: a server of npm's @foxglove/ws-protocol on a free port that takes CDR of its clients. It prints the port as
// a line of JSON. When a client withdraws its channels, it prints what it has got, as a line of
// {topic: [schema name, schema encoding, length of the schema, messages, SHA-256 of their data]}, and ends.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
const need = createRequire(process.env.BAGCONV_NODE_MODULES + '/x.js');
const { FoxgloveServer } = need('@foxglove/ws-protocol');
const { WebSocketServer } = need('ws');
const server = new FoxgloveServer({ name: 'peer', capabilities: ['clientPublish'], supportedEncodings: ['cdr'] });
const channels = new Map();
server.on('advertise', (c) => channels.set(c.id, { c, n: 0, hash: createHash('sha256') }));
server.on('message', ({ channel, data }) => {
  const to = channels.get(channel.id);
  to.n++;
  to.hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
});
let left = 0;
server.on('unadvertise', () => {
  if (++left !== channels.size) return;
  const list = [...channels.values()].map(({ c, n, hash }) =>
    [c.topic, [c.schemaName, c.schemaEncoding ?? '', (c.schema ?? '').length, n, hash.digest('hex')]]);
  console.log(JSON.stringify(Object.fromEntries(list)));
  process.exit(0);
});
const wss = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: (p) => server.handleProtocols(p) });
wss.on('listening', () => console.log(JSON.stringify(wss.address().port)));
wss.on('connection', (conn, req) => server.handleConnection(conn, `${req.socket.remotePort}`));
