// Elements, numbers and times as text. All texts of a recording come into the page through el, as text nodes.

// el makes an element: el('button.jump', {onclick: f, title: 'x'}, 'text', other). It sets no HTML and no style.
const el = (what, attributes = {}, ...children) => {
  const [name, ...classes] = what.split('.');
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false && c !== ''));
  return made;
};

const count = (n) => n.toLocaleString('en-US');
const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
const clamp = (v, least, most) => Math.min(Math.max(v, least), most);

// sizeText writes bytes as the program does: "91.8 MB".
const sizeText = (n) => {
  let unit = 'bytes';
  for (const larger of ['kB', 'MB', 'GB', 'TB', 'PB']) {
    if (n < 999.95) break;
    n /= 1000;
    unit = larger;
  }
  return unit === 'bytes' ? `${n} bytes` : `${n.toFixed(1)} ${unit}`;
};

// durationText writes seconds as the program does: "45.55s", "3m05.2s", "1h02m03s".
const durationText = (s) => {
  if (s === 0) return '0s';
  if (s < 0.001) return `${(s * 1e6).toFixed(0)}µs`;
  if (s < 1) return `${+(s * 1000).toFixed(1)}ms`;
  if (s < 59.9995) return `${+s.toFixed(3)}s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(s / 60)}m${(s % 60).toFixed(1).padStart(4, '0')}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m${two(whole % 60)}s`;
};
const two = (n) => String(n).padStart(2, '0');

// rateText writes a rate with three digits, or all that stand before the point.
const rateText = (hz) => (hz >= 100 ? hz.toFixed(0) : hz >= 10 ? hz.toFixed(1) : hz >= 1 ? hz.toFixed(2) : hz.toPrecision(2));

// valueText writes a value of a plot with six digits at most.
const valueText = (v) => {
  if (v === null || v === undefined || Number.isNaN(v)) return '–';
  const size = Math.abs(v);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? v.toExponential(3) : String(+v.toPrecision(6));
};

// clockText writes a time after the start: "7.25", "3:07.25", "1:03:07". places is the number of decimals.
const clockText = (t, places) => {
  const sign = t < 0 ? '-' : '';
  const scale = 10 ** places;
  const ticks = Math.round(Math.abs(t) * scale);
  const seconds = Math.floor(ticks / scale);
  const rest = places ? '.' + String(ticks % scale).padStart(places, '0') : '';
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h) return `${sign}${h}:${two(m)}:${two(s)}${rest}`;
  return m ? `${sign}${m}:${two(s)}${rest}` : `${sign}${s}${rest}`;
};

// momentText is clockText with its unit.
const momentText = (t, places) => clockText(t, places) + (Math.abs(t) < 60 ? ' s' : '');

// dateText writes the date and time of t seconds after the start of a recording, in UTC with milliseconds.
const dateText = (recording, t) => {
  if (!recording.begin) return '';
  const ms = BigInt(recording.start_ns) / 1000000n + BigInt(Math.round(t * 1000));
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').replace('Z', ' UTC');
};

// niceStep is 1, 2 or 5 times a power of ten, of minutes or hours beyond 30 s: a span has about n of it.
const niceStep = (span, n, ofTime) => {
  const rough = span / n;
  if (ofTime && rough > 30) return [60, 120, 300, 600, 1200, 3600, 7200, 21600, 43200, 86400].find((s) => s >= rough) ||
    Math.ceil(rough / 86400) * 86400;
  if (ofTime && rough > 10) return rough > 15 ? 30 : 15;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1) * power;
};

// ticks lists the multiples of the step between two bounds.
const ticks = (from, to, step) => {
  const all = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && all.length < 100; i++) all.push(i * step);
  return all;
};
const placesOf = (step) => clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 6);

// bytesOf reads base64.
const bytesOf = (text) => Uint8Array.from(atob(text || ''), (c) => c.charCodeAt(0));

// before is the index of the last time that is not after t, or -1. Times ascend.
const before = (times, t) => {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

// breakable is a name that may go on in the next line after each of its parts.
const breakable = (name) => name.split(/(?<=[/_.:-])/).flatMap((part, i) => (i ? [el('wbr'), part] : [part]));

// captioned is the caption of a figure: a name, and facts in small letters.
const captioned = (name, facts, ...more) =>
  el('figcaption', {}, breakable(name), ' ', facts ? el('small', {}, facts) : '', ...more);

// panel makes a section with a heading; its address is made of the recording's number and the name.
const panel = (number, name, title, note, ...children) =>
  el(`section.panel.${name}`, { id: `${name}-${number}`, 'aria-labelledby': `${name}-${number}-title` },
    el('h2', { id: `${name}-${number}-title` }, title, note ? [' ', el('small', {}, note)] : ''), ...children);

// growing shows the first rows of a list, and a button for more of them: a list of 20,000 costs what is seen of it.
const growing = (rows, make, step, what) => {
  const box = el('div.growing');
  let shown = 0;
  const more = el('button.more', { type: 'button', onclick: () => grow() });
  const grow = () => {
    const next = rows.slice(shown, shown + step).map(make);
    shown += next.length;
    more.before(...next);
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${count(Math.min(step, rows.length - shown))} more of ${plural(rows.length, ...what)}`;
    box.dispatchEvent(new Event('grown'));
  };
  box.append(more);
  grow();
  return box;
};
