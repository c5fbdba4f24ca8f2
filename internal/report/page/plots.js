// Plots of numbers over time, by uPlot. All have the time of the page, and no cursor of their own.

const makePlots = (r, number, time) => {
  if (!r.plots.length) return null;
  const groups = new Map();
  for (const p of r.plots) groups.set(p.group, [...(groups.get(p.group) || []), p]);
  const note = r.plots.some((p) => p.guess) ? 'fields that seem to matter; --plot chooses others' : '';
  const gaps = new Map(r.topics.map((t) => [t.name, t.gaps]));
  return panel(number, 'plots', 'Plots', note,
    el('div.plots', {}, [...groups].map(([name, plots]) => makePlot(name, plots, gaps.get(plots[0].topic) || [], time))));
};

// makePlot makes the axes of one group. Its legend shows the values at the time of the page.
const makePlot = (name, plots, gaps, time) => {
  const values = plots.map(() => el('output', {}, '–'));
  const units = [...new Set(plots.map((p) => p.unit))];
  const common = plots.every((p) => p.field.startsWith(plots[0].field.replace(/[^.]*$/, ''))) ?
    plots[0].field.replace(/[^.]*$/, '').length : 0;
  const legend = el('ul.values', {}, plots.map((p, i) => {
    const mark = el('i');
    mark.classList.add(`series-${i % 6}`);
    return el('li', {}, mark, plots.length > 1 ? p.field.slice(common) + ' ' : '', values[i]);
  }));
  const box = el('div.axes', { role: 'img', 'aria-label': plots.map((p) => plotLabel(p)).join('; ') });
  const title = plots.length > 1 ? name : `${plots[0].topic} ${plots[0].field}`;
  const figure = el('figure.plot', {}, captioned(title), legend, box);
  let u;
  const make = () => { // when it has a width, and again when the look changes
    u?.destroy();
    const options = plotOptions(plots, box.clientWidth, units.length === 1 ? units[0] : '', gaps, time);
    options.hooks.draw = [place]; // the scale has its new bounds only then
    u = new uPlot(options, plotData(plots), box);
    scrub(u.over, time, (event) => u.posToVal(event.clientX - u.over.getBoundingClientRect().left, 'x'));
    follow();
  };
  const place = (u) => {
    const at = u.valToPos(time.now, 'x');
    u.setCursor({ left: at >= 0 ? at : -10, top: 0 }, false);
  };
  const follow = () => {
    if (!u) return;
    if (u.scales.x.min !== time.from || u.scales.x.max !== time.to) u.setScale('x', { min: time.from, max: time.to });
    else place(u);
    plots.forEach((p, i) => {
      const k = before(p.times, time.now);
      values[i].textContent = `${k < 0 ? '–' : valueText(p.values[k])} ${p.unit}`;
    });
  };
  let [width, look] = [0, ''];
  const refresh = () => {
    if (!box.clientWidth) return;
    const now = colour('ink');
    if (!u || look !== now) make();
    else if (width !== box.clientWidth) u.setSize({ width: box.clientWidth, height: u.height });
    [width, look] = [box.clientWidth, now];
    follow();
  };
  new ResizeObserver(refresh).observe(box);
  time.listen(refresh);
  return figure;
};

const plotLabel = (p) => {
  const known = p.values.filter((v) => v !== null);
  const range = known.length ? `${valueText(known.reduce((a, b) => Math.min(a, b)))} to ${valueText(known.reduce((a, b) => Math.max(a, b)))}` : 'no values';
  return `${p.topic} ${p.field}: ${range} ${p.unit}`.trim();
};

// plotData joins the times of the fields. uPlot draws over times that a field lacks, and breaks at values that are null.
const plotData = (plots) => uPlot.join(plots.map((p) => [p.times, p.values]), plots.map(() => [0, 1]));

const plotOptions = (plots, width, unit, gaps, time) => {
  const grid = { stroke: colour('line'), width: 1 };
  const axis = { stroke: colour('dim'), grid, ticks: { ...grid, size: 4 }, font: '11px system-ui, sans-serif' };
  const none = () => null;
  return {
    width, height: 150, padding: [8, 20, 0, 0],
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (u, least, most) => plotRange(least, most) } },
    axes: [
      { ...axis, size: 26, space: 60, values: (u, all) => {
        const step = all.length > 1 ? all[1] - all[0] : 1;
        return all.map((t) => clockText(t, placesOf(step)));
      }, incrs: plotSteps },
      { ...axis, size: 58, space: 28, values: (u, all) => all.map(valueText), label: unit || null, labelSize: unit ? 16 : 0,
        labelFont: '11px system-ui, sans-serif' },
    ],
    series: [{}, ...plots.map((p, i) => ({ label: p.field, stroke: seriesColour(i), width: 1.25,
      points: { show: p.times.length < 60, size: 4, fill: seriesColour(i) } }))],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 },
      bind: { mousedown: none, mouseup: none, click: none, dblclick: none, mousemove: none, mouseleave: none, mouseenter: none } },
    hooks: { drawClear: [(u) => {
      u.ctx.globalAlpha = 0.4;
      u.ctx.fillStyle = colour('gap');
      for (const g of gaps) {
        const [from, to] = [g.from, g.to].map((t) => u.valToPos(clamp(t, time.from, time.to), 'x', true));
        u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
      }
      u.ctx.globalAlpha = 1;
    }] },
  };
};

// plotRange leaves some room above and below; a constant stands in the middle.
const plotRange = (least, most) => {
  if (least === null || most === null) return [0, 1];
  const room = (most - least) * 0.08 || Math.abs(most) * 0.1 || 1;
  return [least - room, most + room];
};
const plotSteps = [-6, -5, -4, -3, -2, -1, 0].flatMap((p) => [1, 2, 5].map((n) => +(n * 10 ** p).toPrecision(1)))
  .filter((s) => s < 5).concat(5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600, 7200, 21600, 43200, 86400, 604800, 2592000);
