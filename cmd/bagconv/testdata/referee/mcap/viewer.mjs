// viewer.mjs FILE.mcap SHOT.png: opens a file, or a URL, in Rerun's web viewer, in Chromium without a graphics
// card, and prints {"started", "source", "log": [first, last]}: whether the viewer runs here, what
// has read the file, and the log times that it has, ns since 1970. Without "source" the file was not
// opened within two minutes. The picture is what is seen a while later.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
const modules = process.env.BAGCONV_NODE_MODULES;
const { chromium } = createRequire(modules + '/x.js')('playwright-core');
const [file, shot] = process.argv.slice(2);

const size = { width: 1000, height: 700 };
const page = `<!doctype html><body style="margin:0"><div id="viewer"></div><script type="module">
import { WebViewer } from '/index.js';
const viewer = window.viewer = new WebViewer();
viewer.on('recording_open', (e) => (window.opened = e));
await viewer.start(new URL(${JSON.stringify(file.startsWith('http:') ? file : '/file.mcap')}, location).href, document.getElementById('viewer'),
  { width: '${size.width}px', height: '${size.height}px', render_backend: 'webgl', hide_welcome_screen: true });
window.started = true;
</script>`;
const types = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm', mcap: 'application/octet-stream' };
const server = createServer((request, response) => {
  let name = request.url.slice(1) || 'page.html';
  if (name === 're_viewer') name += '.js';
  if (!/^(page|file|index|re_viewer|re_viewer_bg)\.(html|mcap|js|wasm)$/.test(name)) return response.writeHead(404).end();
  response.setHeader('Content-Type', types[name.split('.').pop()]);
  if (name === 'page.html') return response.end(page);
  createReadStream(name === 'file.mcap' ? file : `${modules}/@rerun-io/web-viewer/${name}`).pipe(response);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const browser = await chromium.launch({
  executablePath: process.env.BAGCONV_CHROMIUM, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const tab = await browser.newPage({ viewport: size });
const failed = new Promise((_, fail) => tab.on('pageerror', fail)); // a fault of the page, not of the machine
await tab.goto(`http://127.0.0.1:${server.address().port}/`);
let state = {};
for (const end = Date.now() + 120_000; Date.now() < end && !(state.log && state.source); await Promise.race([pause(500), failed])) {
  state = await tab.evaluate(() => {
    const id = window.started && window.viewer.get_active_recording_id();
    const range = id && window.viewer.get_time_range(id, 'message_log_time');
    return { started: !!window.started, source: window.opened?.source, log: range && [String(BigInt(range.min)), String(BigInt(range.max))] };
  });
}
for (let i = 0; i < 8; i++) { // until the first frames with all views are drawn
  await pause(1000);
  await tab.screenshot({ path: shot, timeout: 120_000 }); // a frame takes seconds on a busy machine
}
console.log(JSON.stringify(state));
await browser.close();
server.close();
