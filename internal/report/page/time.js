// One time for the whole page: the cursor (now) and the stretch that is seen (from, to). Views listen to both.

const makeTime = (end) => {
  const time = { end: end > 0 ? end : 1, now: 0, from: 0, to: end > 0 ? end : 1, listeners: [] };
  let pending = false;
  const tell = () => { // once for each frame, however fast the pointer is
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      for (const f of time.listeners) f();
    });
  };
  time.listen = (f) => {
    time.listeners.push(f);
    f();
  };
  time.set = (t) => {
    time.now = clamp(Number.isFinite(t) ? t : 0, 0, time.end);
    const span = time.to - time.from;
    if (time.now < time.from || time.now > time.to) time.show(time.now - span / 2, time.now + span / 2);
    tell();
  };
  time.show = (from, to) => {
    const span = clamp(to - from, Math.min(time.end, 0.001), time.end);
    time.from = clamp(from, 0, time.end - span);
    time.to = time.from + span;
    tell();
  };
  time.zoom = (factor) => { // the cursor stays where it is
    const at = clamp(time.now, time.from, time.to);
    time.show(at - (at - time.from) * factor, at + (time.to - at) * factor);
  };
  time.redraw = tell;
  return time;
};

// scrub lets the pointer move the time while it is pressed on an element. timeAt gives the time at an event.
const scrub = (element, time, timeAt) => {
  const move = (event) => {
    const t = timeAt(event);
    if (t !== undefined) time.set(t);
  };
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || timeAt(event) === undefined) return;
    element.setPointerCapture(event.pointerId);
    move(event);
  });
  element.addEventListener('pointermove', (event) => {
    if (element.hasPointerCapture(event.pointerId)) move(event);
  });
};

// makeBar makes the bar that stays in sight: the time, all of the recording with its findings, and the buttons.
const makeBar = (time, recordings, look, help) => {
  const places = time.end > 3600 ? 1 : 3;
  const clock = el('output.clock', { 'aria-live': 'off' });
  const date = el('span.date');
  const slider = el('input', { type: 'range', min: 0, max: time.end, step: 'any', 'aria-label': 'Time' });
  slider.addEventListener('input', () => time.set(Number(slider.value)));
  const map = el('canvas', { 'aria-hidden': 'true' });
  const button = (text, label, f) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: f }, text);
  const draw = () => drawMap(fit(map), time, recordings);
  new ResizeObserver(draw).observe(map);
  time.listen(() => {
    clock.textContent = momentText(time.now, places);
    date.textContent = recordings.length === 1 ? dateText(recordings[0], time.now) : 'after the start of each';
    slider.value = time.now;
    slider.setAttribute('aria-valuetext', clock.textContent);
    draw();
  });
  return el('header.bar', {},
    el('div.now', {}, clock, date),
    el('div.map', {}, map, slider),
    el('div.buttons', {}, button('−', 'Show more time (-)', () => time.zoom(2)),
      button('+', 'Show less time (+)', () => time.zoom(0.5)),
      button('↔', 'Show all (0)', () => time.show(0, time.end)),
      button('◐', 'Light or dark (l)', look), button('?', 'Keys (?)', help)));
};

// sumOf adds the bins of all topics.
const sumOf = (topics) => {
  const sums = [];
  for (const topic of topics) topic.bins.forEach((n, k) => { sums[k] = (sums[k] || 0) + n; });
  return sums;
};

// drawMap draws how many messages come when, what is seen of it, and the findings.
const drawMap = (c, time, recordings) => {
  const { width, height: all } = c.canvas;
  const x = (t) => (t / time.end) * width;
  c.fillStyle = colour('bars');
  recordings.forEach((r, i) => {
    const sums = r.sums ??= sumOf(r.topics);
    const most = sums.reduce((a, b) => Math.max(a, b), 1);
    const height = all / recordings.length;
    sums.forEach((n, k) => {
      const [left, right] = [k, k + 1].map((i) => Math.round(x((r.bin_start || 0) + i * r.bin_width)));
      const h = n ? Math.max(1, (n / most) * (height - 4)) : 0;
      c.fillRect(left, (i + 1) * height - h, Math.max(1, right - left), h);
    });
    for (const f of r.findings.filter((f) => f.time !== null && f.severity !== 'note').slice(0, 500)) {
      c.fillStyle = colour(f.severity);
      c.fillRect(Math.round(x(f.time)) - 1, (i * all) / recordings.length, 2, 5 * pixels());
    }
    c.fillStyle = colour('bars');
  });
  if (time.to - time.from < time.end) {
    c.fillStyle = colour('back');
    c.globalAlpha = 0.75;
    c.fillRect(0, 0, x(time.from), all);
    c.fillRect(x(time.to), 0, width, all);
    c.globalAlpha = 1;
  }
};

// makeKeys listens to the keyboard. A field for text keeps its keys.
const makeKeys = (time, recordings, look, help) => {
  const found = recordings.flatMap((r) => r.findings).filter((f) => f.time !== null).map((f) => f.time).sort((a, b) => a - b);
  const step = (event) => (time.to - time.from) / (event.shiftKey ? 10 : 100);
  const keys = {
    ArrowLeft: (event) => time.set(time.now - step(event)),
    ArrowRight: (event) => time.set(time.now + step(event)),
    Home: () => time.set(0),
    End: () => time.set(time.end),
    n: () => time.set(found.find((t) => t > time.now + 1e-6) ?? time.now),
    p: () => time.set(found.findLast((t) => t < time.now - 1e-6) ?? time.now),
    '+': () => time.zoom(0.5),
    '=': () => time.zoom(0.5),
    '-': () => time.zoom(2),
    0: () => time.show(0, time.end),
    '/': () => document.querySelector('input[type=search]')?.focus(),
    l: look,
    '?': help,
  };
  document.addEventListener('keydown', (event) => {
    const typing = event.target.matches?.('input:not([type=range]):not([type=checkbox]), select, textarea');
    if (event.ctrlKey || event.metaKey || event.altKey || typing || document.querySelector('dialog[open]')) return;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key](event);
  });
};

// makeHelp makes the list of keys.
const makeHelp = () => {
  const keys = [['← →', 'the time, by a hundredth of what is seen; with Shift by a tenth'], ['Home End', 'start, end'],
    ['n p', 'next, previous finding that has a time'], ['+ − 0', 'less time, more time, all'], ['/', 'filter the topics'],
    ['l', 'light or dark'], ['Esc', 'closes what is open'], ['pointer', 'press or drag on timeline, plots and tracks'],
    ['in the cloud', '← → ↑ ↓ turn, + − nearer and farther']];
  const list = keys.map(([key, what]) => [el('dt', {}, key.split(' ').length < 4 && key.length < 9
    ? key.split(' ').map((k) => el('kbd', {}, k)) : key), el('dd', {}, what)]);
  const box = el('dialog.help', { 'aria-label': 'Keys' }, el('h2', {}, 'Keys'), el('dl', {}, list.flat()),
    el('form', { method: 'dialog' }, el('button', {}, 'Close')));
  document.body.append(box);
  return () => box.showModal();
};
