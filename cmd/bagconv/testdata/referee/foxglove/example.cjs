// example.cjs NAME ARGUMENT...: runs an example of npm's ws-protocol-examples. A server of it gets a free
// port in place of its own, and prints it as a line of JSON.
const { createRequire } = require('node:module');
const need = createRequire(process.env.BAGCONV_NODE_MODULES + '/@foxglove/ws-protocol-examples/package.json');
const ws = need('ws');
const Server = ws.WebSocketServer;
ws.WebSocketServer = class extends Server {
  constructor(options) {
    super({ ...options, host: '127.0.0.1', port: 0 });
    this.on('listening', () => console.log(JSON.stringify(this.address().port)));
  }
};
need('.');
