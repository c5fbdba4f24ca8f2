// The timeline: a row for each topic, with its rate, and when its messages came.

const timelineOrders = {
  name: ['Name', () => 0],
  gap: ['Longest gap', (a, b) => longest(b) - longest(a)],
  messages: ['Messages', (a, b) => b.messages - a.messages],
  bytes: ['Size', (a, b) => b.bytes - a.bytes],
  rate: ['Rate', (a, b) => b.rate - a.rate],
};
const longest = (topic) => topic.gaps.reduce((most, g) => Math.max(most, g.to - g.from), 0);

// makeTimeline makes the section. Only rows that were asked for are made; their canvases are drawn when the view changes.
const makeTimeline = (r, number, time) => {
  if (!r.topics.length) return null;
  const search = el('input', { type: 'search', placeholder: 'Filter topics and types', 'aria-label': 'Filter topics and types' });
  const odd = el('input', { type: 'checkbox' });
  const order = el('select', { 'aria-label': 'Order of the topics' },
    Object.entries(timelineOrders).map(([key, [text]]) => el('option', { value: key }, text)));
  const axis = el('div.axis', { 'aria-hidden': 'true' });
  const line = el('div.cursor', { 'aria-hidden': 'true' });
  const head = el('div.row.top', {}, el('span', {}, 'Topic'), el('span.n', {}, 'Messages'), el('span.n', {}, 'Hz'), axis);
  const table = el('div.rows', {}, head, line);
  const found = el('span.found', { role: 'status' });

  let drawn = ''; // of what the canvases are
  const draw = () => {
    const now = [time.from, time.to, table.clientWidth, pixels(), colour('ink')].join();
    if (now !== drawn) drawRows();
    drawn = now;
    const at = (time.now - time.from) / (time.to - time.from);
    line.hidden = at < 0 || at > 1;
    line.style.left = `${axis.offsetLeft + at * axis.offsetWidth}px`;
  };
  const drawRows = () => {
    drawAxis(axis, time);
    for (const row of table.querySelectorAll('.row:not(.top)')) drawRow(row.querySelector('canvas'), row.topic, r, time);
  };
  let list;
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = r.topics.filter((t) => words.every((w) => `${t.name} ${t.type}`.toLowerCase().includes(w)) &&
      (!odd.checked || t.gaps.length || t.bursts.length));
    chosen.sort(timelineOrders[order.value][1]);
    list?.remove();
    list = growing(chosen, (topic) => makeRow(topic, r, time), 100, ['topic']);
    list.addEventListener('grown', drawRows);
    table.append(list);
    found.textContent = chosen.length < r.topics.length ? `${count(chosen.length)} of ${plural(r.topics.length, 'topic')}` : '';
    drawRows();
  };
  for (const [input, event] of [[search, 'input'], [odd, 'change'], [order, 'change']]) input.addEventListener(event, fill);
  scrub(table, time, (event) => {
    if (event.type === 'pointerdown' && event.target.tagName !== 'CANVAS' && !axis.contains(event.target)) return undefined;
    const box = axis.getBoundingClientRect();
    return clamp(time.from + ((event.clientX - box.left) / box.width) * (time.to - time.from), time.from, time.to);
  });
  const tools = el('div.tools', {}, search, el('label', {}, odd, ' gaps or bursts'), el('label', {}, 'by ', order), found);
  const section = panel(number, 'timeline', 'Timeline', plural(r.topics.length, 'topic'), tools, table,
    el('p.legend', {}, el('i.data'), 'messages, full height at the usual number', el('i.gap'), 'gap', el('i.burst'), 'burst'));
  fill();
  new ResizeObserver(draw).observe(table);
  time.listen(draw);
  return section;
};

// makeRow makes a row, and what its button shows.
const makeRow = (topic, r, time) => {
  const off = topic.expected > 0 && topic.rate > 0 && Math.abs(topic.rate / topic.expected - 1) > 0.1;
  const gap = longest(topic);
  const label = `${plural(topic.messages, 'message')} over time, ${plural(topic.gaps.length, 'gap')}` +
    (gap ? `, the longest ${durationText(gap)}` : '') + `, ${plural(topic.bursts.length, 'burst')}`;
  let more;
  const name = el('button.name', { type: 'button', 'aria-expanded': 'false', onclick: () => {
    more ??= makeTopic(topic, time);
    if (more.isConnected) more.remove();
    else row.append(more);
    name.setAttribute('aria-expanded', String(more.isConnected));
  } }, breakable(topic.name), ' ', el('small', {}, breakable(topic.type)));
  const rate = topic.rate > 0 ? rateText(topic.rate) : '';
  const row = el('div.row', {}, name, el('span.n', {}, count(topic.messages)),
    el(off ? 'span.n.off' : 'span.n', { title: topic.expected ? `expected: ${rateText(topic.expected)} Hz` : null }, rate,
      topic.expected ? el('small', {}, `of ${rateText(topic.expected)}`) : ''),
    el('canvas', { role: 'img', 'aria-label': label }));
  row.topic = topic;
  return row;
};

// makeTopic shows the rest of what is known of a topic, and its gaps and bursts with their times.
const makeTopic = (topic, time) => {
  const span = (s, what) => el('button.jump', { type: 'button', onclick: () => time.set(s.from) },
    `${what} of ${durationText(s.to - s.from)} at ${momentText(s.from, 2)}`);
  const lines = [['Encoding', topic.encoding], ['QoS', topic.qos], ['Message data', topic.bytes >= 0 && sizeText(topic.bytes)],
    ['First and last', topic.messages > 0 && `${clockText(topic.first, 3)} to ${clockText(topic.last, 3)}`]];
  const messages = document.getElementById('report').dataset.messages; // of a server
  return el('div.topic', {},
    el('dl.properties', {}, lines.filter((l) => l[1]).map(([k, v]) => el('div', {}, el('dt', {}, k), el('dd', {}, v)))),
    el('p', {}, topic.gaps.slice(0, 20).map((g) => span(g, 'gap')), topic.bursts.slice(0, 20).map((b) => span(b, 'burst')),
      messages && topic.messages > 0 ? el('a', { href: messages + encodeURIComponent(topic.name) }, 'First messages') : ''));
};

// drawAxis writes the times above the rows.
const drawAxis = (axis, time) => {
  const span = time.to - time.from;
  const step = niceStep(span, Math.max(2, axis.offsetWidth / 90), true);
  axis.replaceChildren(...ticks(time.from, time.to, step).map((t) => {
    const tick = el('span', {}, clockText(t, placesOf(step)));
    tick.style.left = `${((t - time.from) / span) * 100}%`;
    return tick;
  }));
};

// usual is the number of messages of a bin that nine of ten bins with messages do not exceed, but for a tenth: one more or
// less is no news.
const usual = (bins) => {
  const all = bins.filter((n) => n > 0).sort((a, b) => a - b);
  return Math.max(1, Math.floor((all[Math.floor(all.length * 0.9)] || 1) * 0.9));
};

// drawRow draws gaps and bursts, and above them a bar for each bin: full if it has the usual number of messages.
const drawRow = (canvas, topic, { bin_start: start = 0, bin_width: width }, time) => {
  const c = fit(canvas);
  const [w, h] = [canvas.width, canvas.height];
  const x = (t) => Math.round(((t - time.from) / (time.to - time.from)) * w);
  const spans = (list, name) => {
    c.fillStyle = colour(name);
    for (const s of list) c.fillRect(x(s.from), 0, Math.max(2 * pixels(), x(s.to) - x(s.from)), h);
  };
  spans(topic.gaps, 'gap');
  c.fillStyle = colour('bars');
  const full = topic.usual ??= usual(topic.bins);
  const [first, last] = [time.from, time.to].map((t) => clamp(Math.floor((t - start) / width), 0, topic.bins.length - 1));
  for (let i = first; i <= last; i++) {
    const n = topic.bins[i];
    if (!n) continue;
    const bar = Math.max(pixels() * 2, Math.min(1, n / full) * (h - 2 * pixels()));
    const left = x(start + i * width);
    c.fillRect(left, h - bar, Math.max(Math.ceil(pixels()), x(start + (i + 1) * width) - left), bar);
  }
  spans(topic.bursts, 'burst');
};
