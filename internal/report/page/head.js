// What stands above: the facts of a recording, its findings, and the difference of two.

// fillHead adds what the file without JavaScript lacks: sizes, properties, and links to the sections.
const fillHead = (r, head, sections) => {
  const facts = [
    r.size >= 0 && ['Size', sizeText(r.size)],
    ['Duration', durationText(r.duration)],
    ['Messages', count(r.messages)],
    ['Topics', count(r.topics.length)],
    r.bytes >= 0 && ['Message data', sizeText(r.bytes)],
  ].filter(Boolean);
  head.append(el('dl.figures', {}, facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))));
  const lines = [...r.properties.map((p) => [p.name, p.value]), ['path', r.path], r.hash && ['hash', r.hash]];
  const code = /^(hash|path)$/;
  head.append(el('dl.properties', {}, lines.filter((l) => l && l[1]).map(([name, value]) =>
    el(code.test(name) ? 'div.long' : 'div', {}, el('dt', {}, name), el(code.test(name) ? 'dd.code' : 'dd', {}, value)))));
  head.append(el('nav', { 'aria-label': `Sections of ${r.name}` }, sections.map((s) =>
    el('a', { href: '#' + s.id }, s.querySelector('h2').firstChild.textContent))));
};

// makeFindings lists what check found. A button moves the time to the first message concerned.
const makeFindings = (r, number, time) => {
  if (!r.findings.length) return null;
  const places = r.duration > 3600 ? 1 : 3;
  const row = (f) => el(`div.finding.${f.severity}`, {},
    el(`span.pill.${f.severity}`, {}, f.severity),
    el('div', {},
      el('p', {}, f.topic ? el('b', {}, breakable(f.topic)) : '', f.topic ? ' ' : '', f.message,
        f.count > 1 && !f.message.includes(f.count) && !f.message.includes(count(f.count)) ? el('span.times', {}, ` × ${count(f.count)}`) : ''),
      el('p.hint', {}, el('code', {}, f.code), f.hint ? ' · ' + f.hint : '')),
    f.time === null ? '' : el('button.jump', { type: 'button', onclick: () => time.set(f.time),
      'aria-label': `Go to ${momentText(f.time, places)}: ${f.code}` }, momentText(f.time, places)));
  const all = r.errors + r.warnings + r.notes;
  return panel(number, 'findings', 'Findings', all > r.findings.length ? `${count(r.findings.length)} of ${count(all)}` : '',
    growing(r.findings, row, 12, ['finding']));
};

// makeDifference says what verify says of two recordings.
const makeDifference = (d) => el('section.panel.difference', { id: 'difference', 'aria-label': 'Difference' },
  el('h2', {}, 'Difference ', el(`span.pill.${d.equal ? 'good' : 'error'}`, {}, d.equal ? 'equal' : 'different')),
  el('p', {}, d.summary), d.lines.length ? growing(d.lines, (line) => el('p.line', {}, line), 30, ['line']) : '');
