// see.mjs FILE SHOTS AXE WIDTH...: opens a page in Chromium, uses it as a person does, and prints what went wrong and what
// was seen as one line of JSON. A picture of each width, light, and of the widest, dark, goes into the folder
// SHOTS, unless that is empty. With SHOTS and without AXE, axe.min.js, it only takes pictures.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const { chromium } = createRequire(process.env.BAGCONV_NODE_MODULES + '/x.js')('playwright-core');
const [file, shots, axe, ...widths] = process.argv.slice(2);
const address = /^https?:/.test(file) ? file : pathToFileURL(file).href;

const browser = await chromium.launch({
  executablePath: process.env.BAGCONV_CHROMIUM, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const tab = await browser.newPage({ viewport: { width: Number(widths[0]), height: 900 }, colorScheme: 'light', reducedMotion: 'reduce' });
const faults = [];
tab.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|software WebGL/.test(m.text()) && faults.push(`console: ${m.text()}`));
tab.on('pageerror', (e) => faults.push(`error: ${e.stack}`));
tab.on('request', (r) => r.url() !== address && !r.url().startsWith('data:') && faults.push(`request: ${r.url()}`));
await tab.goto(address);
const frame = () => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const seen = {};
const isReport = await tab.locator('#data').count() > 0; // else a page without scripts
if (isReport) await tab.waitForSelector('html[data-ready]');
if (isReport && (axe || !shots)) await act();
if (axe) {
  await tab.evaluate(readFileSync(axe, 'utf8'));
  for (const look of ['light', 'dark']) {
    await tab.emulateMedia({ colorScheme: look });
    await frame();
    const found = await tab.evaluate(() => axe.run());
    for (const v of found.violations) faults.push(`axe, ${look}: ${v.impact} ${v.id} ${v.nodes.slice(0, 3).map((n) => n.target + ' ' + n.failureSummary).join('; ')}`);
  }
  await tab.emulateMedia({ colorScheme: 'light' });
}
if (isReport) await shoot();
else seen.text = await tab.evaluate(() => document.body.innerText);
console.log(JSON.stringify({ faults, seen }));
await browser.close();

// act uses the page by keys and pointer.
async function act() {
  const clock = async () => { await frame(); return tab.textContent('.clock'); };
  Object.assign(seen, { hit: await tab.evaluate(() => window.hit ?? ''), text: await tab.evaluate(() => document.body.innerText) });

  // Keys, before anything has the focus.
  seen.start = await clock();
  await tab.keyboard.press('Shift+ArrowRight');
  seen.right = await clock();
  await tab.keyboard.press('n');
  seen.finding = await clock();
  await tab.keyboard.press('+');
  await frame();
  seen.axis = await tab.evaluate(() => [...document.querySelectorAll('.axis span')].slice(0, 2).map((s) => s.textContent));
  await tab.keyboard.press('0');
  await tab.keyboard.press('?');
  seen.help = await tab.evaluate(() => document.querySelector('dialog[open]')?.innerText ?? '');
  await tab.keyboard.press('Escape');

  // The pointer, on the timeline and in a plot; what follows the time.
  for (const what of ['.row:not(.top) canvas', '.u-over', 'canvas.track']) {
    const place = tab.locator(what).first();
    if (!(await place.count())) continue;
    await place.scrollIntoViewIfNeeded();
    const box = await place.boundingBox();
    await tab.mouse.move(box.x + box.width * 0.2, box.y + box.height / 2);
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width * 0.75, box.y + box.height / 2);
    await tab.mouse.up();
    (seen.pointer ??= {})[what] = await clock();
  }
  seen.follow = await tab.evaluate(() => ({
    value: document.querySelector('.values output')?.textContent, place: document.querySelector('.place')?.textContent,
    picture: document.querySelector('.picture[aria-current] img')?.alt,
  }));
  const picture = tab.locator('.picture').first();
  if (await picture.count()) {
    await picture.click();
    await tab.keyboard.press('ArrowRight');
    seen.large = await tab.evaluate(() => document.querySelector('dialog[open] p')?.textContent ?? '');
    await tab.keyboard.press('Escape');
  }
  const cloud = tab.locator('canvas.cloud').first();
  if (await cloud.count()) {
    const pixels = () => tab.evaluate(() => document.querySelector('canvas.cloud').toDataURL());
    await cloud.focus();
    const [first] = [await pixels()];
    await tab.keyboard.press('ArrowLeft');
    seen.turned = first !== await pixels();
  }
  await tab.fill('input[type=search]', 'no such topic').catch(() => {});
  seen.filtered = await tab.locator('.row:not(.top)').count();
  await tab.fill('input[type=search]', '').catch(() => {});
  for (const details of await tab.locator('details > summary').all()) await details.click();
}

// shoot takes pictures, with the time at four tenths.
async function shoot() {
  await tab.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = false; }));
  await tab.keyboard.press('Home');
  for (let i = 0; i < 4; i++) await tab.keyboard.press('Shift+ArrowRight');
  await tab.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  await tab.mouse.move(0, 0);
  for (const width of widths) {
    await tab.setViewportSize({ width: Number(width), height: 900 });
    await frame();
    seen[`wide ${width}`] = await tab.evaluate(() => document.documentElement.scrollWidth);
    if (shots) await tab.screenshot({ path: `${shots}/${width}.png`, fullPage: true });
  }
  await tab.keyboard.press('l');
  await frame();
  if (shots) await tab.screenshot({ path: `${shots}/dark.png`, fullPage: true });
}
