// Tracks: where something was, from above, with the same scale on both axes, and where it is now.

const makeTracks = (r, number, time) => {
  if (!r.tracks.length) return null;
  return panel(number, 'tracks', r.tracks.length > 1 ? 'Tracks' : 'Track', '',
    el(r.tracks.length > 1 ? 'div.several' : 'div', {}, r.tracks.map((t) => makeTrack(t, time))));
};

const makeTrack = (track, time) => {
  const canvas = el('canvas.track', { role: 'img',
    'aria-label': `Track of ${track.topic}, ${metres(track.length)} long, seen from above` });
  const place = el('output.place');
  const origin = track.kind === 'fix' ? `from ${track.latitude.toFixed(6)}°, ${track.longitude.toFixed(6)}°` : track.frame && `in ${track.frame}`;
  const caption = captioned(track.topic, [track.kind, metres(track.length), origin].filter(Boolean).join(', '));
  if (stands(track)) return el('figure.track', {}, caption, el('p.none', {}, 'it stands still'));
  const draw = () => {
    if (!canvas.clientWidth) return;
    const view = trackView(track, canvas);
    drawTrack(track, view, time);
    const at = before(track.times, time.now);
    const known = at >= 0 && track.x[at] !== null && track.y[at] !== null;
    place.textContent = known ? `x ${track.x[at].toFixed(2)} m, y ${track.y[at].toFixed(2)} m` : '';
  };
  new ResizeObserver(draw).observe(canvas);
  time.listen(draw);
  scrub(canvas, time, (event) => {
    const view = trackView(track, canvas);
    const box = canvas.getBoundingClientRect();
    return nearestTime(track, view, (event.clientX - box.left) * pixels(), (event.clientY - box.top) * pixels());
  });
  return el('figure.track', {}, caption, canvas, place);
};

// stands reports whether all places are one.
const stands = (track) => {
  const same = (values) => {
    const known = values.filter((v) => v !== null);
    return known.every((v) => Math.abs(v - known[0]) < 0.001);
  };
  return same(track.x) && same(track.y);
};

const metres = (m) => (m < 1000 ? `${m.toFixed(m < 10 ? 2 : 0)} m` : `${(m / 1000).toFixed(2)} km`);

// trackView is the place of metres in the canvas: the whole track in the middle, with room around it.
const trackView = (track, canvas) => {
  const [width, height] = [canvas.clientWidth * pixels(), canvas.clientHeight * pixels()];
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  track.x.forEach((x, i) => {
    const y = track.y[i];
    if (x === null || y === null) return;
    [left, right, low, high] = [Math.min(left, x), Math.max(right, x), Math.min(low, y), Math.max(high, y)];
  });
  if (left > right) [left, right, low, high] = [0, 0, 0, 0];
  const room = 22 * pixels();
  const scale = Math.min((width - 2 * room) / Math.max(right - left, 0.1), (height - 2 * room) / Math.max(high - low, 0.1));
  return {
    width, height, scale, canvas,
    x: (x) => width / 2 + (x - (left + right) / 2) * scale,
    y: (y) => height / 2 - (y - (low + high) / 2) * scale,
    fromX: (p) => (p - width / 2) / scale + (left + right) / 2,
    fromY: (p) => (height / 2 - p) / scale + (low + high) / 2,
  };
};

// drawTrack draws a grid, the track, what is behind the time in a stronger colour, and a mark for now.
const drawTrack = (track, view, time) => {
  const c = fit(view.canvas);
  const ratio = pixels();
  const step = niceStep(view.width / view.scale, Math.max(2, view.width / ratio / 90), false);
  c.strokeStyle = colour('line');
  c.fillStyle = colour('dim');
  c.lineWidth = 1;
  c.font = `${11 * ratio}px system-ui, sans-serif`;
  const text = (v) => +v.toFixed(placesOf(step)) + '';
  for (const x of ticks(view.fromX(0), view.fromX(view.width), step)) {
    const at = Math.round(view.x(x)) + 0.5;
    stroke(c, [[at, 0], [at, view.height]]);
    if (at < view.width - 40 * ratio) c.fillText(text(x), at + 3 * ratio, view.height - 4 * ratio);
  }
  for (const y of ticks(view.fromY(view.height), view.fromY(0), step)) {
    const at = Math.round(view.y(y)) + 0.5;
    stroke(c, [[0, at], [view.width, at]]);
    if (at < view.height - 24 * ratio) c.fillText(text(y), 3 * ratio, at - 3 * ratio);
  }
  c.fillText('m', view.width - 14 * ratio, view.height - 4 * ratio);
  const places = track.times.map((_, i) => (track.x[i] === null || track.y[i] === null ? null : [view.x(track.x[i]), view.y(track.y[i])]));
  c.lineJoin = 'round';
  c.lineWidth = 2 * ratio;
  c.strokeStyle = colour('faint');
  stroke(c, places);
  const now = before(track.times, time.now);
  c.strokeStyle = colour('data');
  stroke(c, places.slice(0, now + 1));
  const known = places.filter(Boolean);
  if (known.length) mark(c, known[0], 3.5 * ratio, colour('good'));
  if (known.length) mark(c, known.at(-1), 3.5 * ratio, colour('dim'));
  if (places[now]) mark(c, places[now], 6 * ratio, colour('ink'));
};

// stroke draws a line that breaks where a place is null.
const stroke = (c, places) => {
  c.beginPath();
  let down = false;
  for (const p of places) {
    if (!p) down = false;
    else if (down) c.lineTo(p[0], p[1]);
    else c.moveTo(p[0], p[1]);
    if (p) down = true;
  }
  c.stroke();
};

const mark = (c, [x, y], radius, fill) => {
  c.beginPath();
  c.arc(x, y, radius, 0, 2 * Math.PI);
  c.fillStyle = fill;
  c.fill();
  c.lineWidth = 1.5 * pixels();
  c.strokeStyle = colour('panel');
  c.stroke();
};

// nearestTime is the time of the place that is nearest to a pixel.
const nearestTime = (track, view, x, y) => {
  let [best, at] = [Infinity, undefined];
  track.times.forEach((t, i) => {
    if (track.x[i] === null || track.y[i] === null) return;
    const d = (view.x(track.x[i]) - x) ** 2 + (view.y(track.y[i]) - y) ** 2;
    if (d < best) [best, at] = [d, t];
  });
  return at;
};
