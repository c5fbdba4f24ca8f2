// Transforms, types, losses, and what the report leaves out.

// makeFrames draws the tree of transforms as a list with indents: each frame stands below its parent.
const makeFrames = (r, number) => {
  if (!r.frames.length) return null;
  const row = (f) => {
    const name = el('span.frame', {}, f.name);
    name.style.paddingInlineStart = `${Math.min(f.depth, 12) * 1.1}rem`;
    const how = !f.parent ? 'root' : f.static ? 'static' : f.rate > 0 ? `${rateText(f.rate)} Hz` : plural(f.count, 'transform');
    return el('div.edge', {}, name, el('span.how', { title: f.topic || null }, how), f.note ? el('span.note', {}, f.note) : '');
  };
  return panel(number, 'frames', 'Transforms', plural(r.frames.length, 'frame'), growing(inOrder(r.frames), row, 60, ['frame']));
};

// inOrder lists each frame after its parent and before that parent's next child.
const inOrder = (frames) => {
  const children = new Map();
  for (const f of frames) children.set(f.parent, [...(children.get(f.parent) || []), f]);
  const [all, seen] = [[], new Set()];
  const stack = frames.filter((f) => !f.parent).reverse();
  for (const rest of [null, ...frames]) { // what no root leads to comes last
    if (rest && !seen.has(rest)) stack.push(rest);
    while (stack.length) {
      const f = stack.pop();
      if (seen.has(f)) continue;
      seen.add(f);
      all.push(f);
      stack.push(...(children.get(f.name) || []).toReversed());
    }
  }
  return all;
};

// makeTypes lists the definitions; the text of one is in the page once it is opened.
const makeTypes = (r, number) => {
  if (!r.types.length) return null;
  const row = (t) => {
    const facts = [t.encoding, plural(t.topics, 'topic'), t.hash].filter(Boolean).join(', ');
    if (!t.definition) return el('div.type', {}, el('b', {}, breakable(t.name)), ' ', el('small', {}, facts + ', no definition'));
    const box = el('details.type', {}, el('summary', {}, el('b', {}, breakable(t.name)), ' ', el('small', {}, facts)));
    box.addEventListener('toggle', () => {
      if (box.open && box.children.length === 1) box.append(el('pre', { tabindex: '0' }, t.definition));
    });
    return box;
  };
  return panel(number, 'types', 'Types', plural(r.types.length, 'type'), growing(r.types, row, 40, ['type']));
};

// makeLines lists sentences.
const makeLines = (lines, number, name, title, note) => {
  if (!lines.length) return null;
  return panel(number, name, title, note, growing(lines, (line) => el('p.line', {}, line), 30, ['line']));
};
