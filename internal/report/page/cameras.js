// Thumbnails of cameras over time. A click shows one as large as the window lets it be.

const makeCameras = (r, number, time) => {
  if (!r.cameras.length) return null;
  return panel(number, 'cameras', r.cameras.length > 1 ? 'Cameras' : 'Camera', '', r.cameras.map((camera) => makeCamera(camera, time)));
};

const makeCamera = (camera, time) => {
  const facts = [camera.format, camera.width > 0 && `${camera.width} × ${camera.height}`].filter(Boolean).join(', ');
  const caption = captioned(camera.topic, facts);
  if (!camera.samples.length) return el('figure.camera', {}, caption, el('p.none', {}, camera.note || 'no pictures'));
  const show = (i) => {
    time.set(camera.samples[i].time);
    showPicture(camera, i, time);
  };
  const buttons = camera.samples.map((s, i) => el('button.picture', { type: 'button', onclick: () => show(i) },
    el('img', { src: source(s), width: s.width, height: s.height, alt: `${camera.topic} at ${momentText(s.time, 2)}`, decoding: 'async' }),
    el('span', {}, momentText(s.time, 1))));
  const strip = el('div.strip', { role: 'group', 'aria-label': `Pictures of ${camera.topic}` }, buttons);
  const times = camera.samples.map((s) => s.time);
  let last = -1;
  time.listen(() => {
    const now = Math.max(0, before(times, time.now));
    if (now === last) return;
    buttons[last]?.removeAttribute('aria-current');
    buttons[now].setAttribute('aria-current', 'true');
    const b = buttons[now];
    if (last >= 0) strip.scrollTo({ left: b.offsetLeft - strip.offsetLeft - (strip.clientWidth - b.offsetWidth) / 2 });
    last = now;
  });
  return el('figure.camera', {}, caption, strip, camera.note ? el('p.none', {}, camera.note) : '');
};

const source = (sample) => 'data:image/jpeg;base64,' + sample.jpeg;

// showPicture opens the large picture; the arrows go to the one before and after.
const showPicture = (camera, i, time) => {
  const image = el('img');
  const caption = el('p');
  const set = (k) => {
    i = clamp(k, 0, camera.samples.length - 1);
    const s = camera.samples[i];
    image.src = source(s);
    image.alt = `${camera.topic} at ${momentText(s.time, 2)}`;
    caption.textContent = `${camera.topic}, ${momentText(s.time, 3)}, ${i + 1} of ${camera.samples.length}`;
    time.set(s.time);
  };
  const button = (text, label, by) => el('button', { type: 'button', 'aria-label': label, onclick: () => set(i + by) }, text);
  const box = el('dialog.large', { 'aria-label': `Picture of ${camera.topic}` }, image,
    el('div.tools', {}, button('←', 'Earlier', -1), caption, button('→', 'Later', 1),
      el('form', { method: 'dialog' }, el('button', {}, 'Close'))));
  box.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) set(i + by);
  });
  box.addEventListener('click', (event) => { if (event.target === box) box.close(); });
  box.addEventListener('close', () => box.remove());
  document.body.append(box);
  set(i);
  box.showModal();
};
