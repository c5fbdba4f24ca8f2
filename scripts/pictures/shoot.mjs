// shoot.mjs SHOTS TOWN.html TWO.html ADDRESS: the pictures of scripts/pictures/make.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const { chromium } = createRequire(process.env.BAGCONV_NODE_MODULES + '/x.js')('playwright-core');
const [shots, town, two, server] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.BAGCONV_CHROMIUM, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const shoot = async (name, address, { width = 1280, height = 900, look = 'light', act = async () => {} } = {}) => {
  const tab = await browser.newPage({ viewport: { width, height }, colorScheme: look, reducedMotion: 'reduce' });
  await tab.goto(/^http/.test(address) ? address : pathToFileURL(address).href);
  await act(tab);
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await tab.screenshot({ path: `${shots}/${name}.png` });
  await tab.close();
};
const middle = async (tab) => {
  await tab.waitForSelector('html[data-ready]');
  for (let i = 0; i < 5; i++) await tab.keyboard.press('Shift+ArrowRight');
};
const below = async (tab) => {
  await middle(tab);
  await tab.evaluate(() => document.querySelector('.cameras').scrollIntoView());
};
await shoot('see', town, { height: 1290, act: middle });
await shoot('see-below', town, { height: 960, look: 'dark', act: below });
await shoot('see-narrow', town, { width: 360, height: 760, act: middle });
await shoot('see-two', two, { height: 820, act: middle });
await shoot('see-serve', `${server}/?q=camera`, { width: 1100, height: 560 });
await browser.close();
