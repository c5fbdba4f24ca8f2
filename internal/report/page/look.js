// Light and dark, and canvases that are as sharp as the screen.

// colours are the variables of style.css as canvases need them, until the look changes.
let colours = {};
const colour = (name) => {
  if (!colours[name]) {
    const probe = el('span');
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    colours[name] = getComputedStyle(probe).color;
    probe.remove();
  }
  return colours[name];
};
const seriesColour = (i) => colour(`series-${i % 6}`);

// makeLook returns what switches between the two; redraw is called after each change.
const makeLook = (redraw) => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const set = (name) => {
    document.documentElement.style.colorScheme = name;
    colours = {};
    redraw();
  };
  let chosen = '';
  try { // a file has no storage in some browsers
    chosen = localStorage.getItem('bagconv-look') || '';
  } catch { /* then the look is the one of the system */ }
  if (chosen) set(chosen);
  dark.addEventListener('change', () => set(chosen));
  addEventListener('beforeprint', () => set('light'));
  addEventListener('afterprint', () => set(chosen));
  return () => {
    chosen = (chosen || (dark.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('bagconv-look', chosen);
    } catch { /* it lasts until the page is closed */ }
    set(chosen);
  };
};

// fit clears a canvas, gives it the pixels that it has on the screen, and returns its context, in those pixels.
const fit = (canvas) => {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((n) => Math.round(n * pixels()));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const c = canvas.getContext('2d');
  c.clearRect(0, 0, width, height);
  return c;
};
const pixels = () => devicePixelRatio || 1;
