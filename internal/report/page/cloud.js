// A cloud of points that turns, by WebGL: z is up, the pointer or the arrow keys turn it.

const cloudVertex = `
attribute vec3 place; attribute float shade; uniform mat4 view; uniform float size; varying float tone;
void main() { gl_Position = view * vec4(place, 1.0); gl_PointSize = clamp(size / gl_Position.w, 1.5, 6.0); tone = shade; }`;
// Five colours from dark to bright that also differ in grey.
const cloudFragment = `
precision mediump float; varying float tone; uniform float dark;
vec3 ramp(float t) {
  vec3 a = vec3(0.23, 0.20, 0.56), b = vec3(0.15, 0.45, 0.60), c = vec3(0.13, 0.64, 0.52), d = vec3(0.55, 0.80, 0.30), e = vec3(0.95, 0.85, 0.20);
  t *= 4.0;
  return t < 1.0 ? mix(a, b, t) : t < 2.0 ? mix(b, c, t - 1.0) : t < 3.0 ? mix(c, d, t - 2.0) : mix(d, e, t - 3.0);
}
void main() { gl_FragColor = vec4(ramp(tone) * mix(0.82, 1.0, dark) + 0.12 * dark, 1.0); }`;

const makeClouds = (r, number, time) => {
  if (!r.clouds.length) return null;
  return panel(number, 'clouds', 'Cloud', '', r.clouds.map((cloud) => makeCloud(cloud, time)));
};

const makeCloud = (cloud, time) => {
  const facts = `${cloud.points < cloud.all ? `${count(cloud.points)} of ` : ''}${plural(cloud.all, 'point')}, colour is ${cloud.by}` +
    (cloud.frame ? `, in ${cloud.frame}` : '');
  const at = el('button.jump', { type: 'button', onclick: () => time.set(cloud.time) }, momentText(cloud.time, 2));
  const caption = captioned(cloud.topic, facts, at);
  const canvas = el('canvas.cloud', { tabindex: '0', role: 'application', 'aria-label': `Points of ${cloud.topic}: arrow keys turn, + and - zoom` });
  const draw = cloud.points > 0 && cloudDrawing(canvas, cloud);
  if (!draw) return el('figure.cloud', {}, caption, el('p.none', {}, cloud.points ? 'This browser has no WebGL, which draws the points.' : 'no points'));
  const eye = { turn: -0.9, tilt: 0.55, near: 1 };
  const redraw = () => draw(eye);
  const keys = { ArrowLeft: ['turn', 0.1], ArrowRight: ['turn', -0.1], ArrowUp: ['tilt', 0.08], ArrowDown: ['tilt', -0.08] };
  const zoom = (factor) => { eye.near = clamp(eye.near * factor, 0.2, 20); };
  canvas.addEventListener('keydown', (event) => {
    if (keys[event.key]) eye[keys[event.key][0]] += keys[event.key][1];
    else if (event.key === '+' || event.key === '=') zoom(1.2);
    else if (event.key === '-') zoom(1 / 1.2);
    else return;
    eye.tilt = clamp(eye.tilt, -1.5, 1.5);
    event.preventDefault();
    event.stopPropagation(); // else the time moves, too
    redraw();
  });
  canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener('pointermove', (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    eye.turn -= event.movementX * 0.008;
    eye.tilt = clamp(eye.tilt + event.movementY * 0.008, -1.5, 1.5);
    redraw();
  });
  canvas.addEventListener('wheel', (event) => {
    if (document.activeElement !== canvas) return; // else the page would not scroll
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.001));
    redraw();
  }, { passive: false });
  new ResizeObserver(redraw).observe(canvas);
  let look = '';
  time.listen(() => {
    if (look === colour('panel')) return;
    look = colour('panel');
    redraw();
  });
  return el('figure.cloud', {}, caption, canvas);
};

// cloudDrawing returns a function that draws the points as the eye sees them, or null without WebGL.
const cloudDrawing = (canvas, cloud) => {
  const gl = canvas.getContext('webgl', { alpha: true, premultipliedAlpha: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, cloudVertex], [gl.FRAGMENT_SHADER, cloudFragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const bind = (name, data, size, type, normal) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const at = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normal, 0, 0);
  };
  const raw = new DataView(bytesOf(cloud.xyz).buffer);
  const n = Math.min(cloud.points, Math.floor(raw.byteLength / 6));
  const places = Float32Array.from({ length: 3 * n }, (_, i) => raw.getInt16(2 * i, true) / 32767); // -1 to 1
  bind('place', places, 3, gl.FLOAT, false);
  bind('shade', bytesOf(cloud.shade), 1, gl.UNSIGNED_BYTE, true);
  const radius = cloudRadius(places);
  gl.enable(gl.DEPTH_TEST);
  return (eye) => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((v) => Math.max(1, Math.round(v * pixels())));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(gl.getUniformLocation(program, 'view'), false, cloudView(eye, radius, width / height));
    gl.uniform1f(gl.getUniformLocation(program, 'size'), 5 * pixels() * radius * eye.near ** 0.5);
    gl.uniform1f(gl.getUniformLocation(program, 'dark'), luminance(colour('panel')) < 0.5 ? 1 : 0);
    gl.drawArrays(gl.POINTS, 0, n);
  };
};

const luminance = (rgb) => {
  const [r, g, b] = rgb.match(/[\d.]+/g).map(Number);
  return (0.3 * r + 0.6 * g + 0.1 * b) / 255;
};

// cloudRadius is a distance from the middle within which nine of ten points are: few far ones do not make the rest small.
const cloudRadius = (places) => {
  const all = [];
  for (let i = 0; i < places.length; i += 3) all.push(Math.hypot(places[i], places[i + 1], places[i + 2]));
  return Math.max(all.sort((a, b) => a - b)[Math.floor(all.length * 0.9)] || 0, 1e-3);
};

// cloudView is the matrix of an eye on a sphere around the middle, in columns.
const cloudView = (eye, radius, aspect) => {
  const [ct, st, cu, su] = [Math.cos(eye.turn), Math.sin(eye.turn), Math.cos(eye.tilt), Math.sin(eye.tilt)];
  const far = (2.15 * radius) / eye.near;
  const right = [-st, ct, 0], up = [-su * ct, -su * st, cu], back = [cu * ct, cu * st, su];
  const f = 1.6, least = far * 0.02, most = far + 4;
  const [a, b] = [(most + least) / (least - most), (2 * most * least) / (least - most)];
  const sy = f * Math.min(aspect, 1), sx = sy / aspect;
  const columns = [0, 1, 2].map((k) => [sx * right[k], sy * up[k], a * back[k], -back[k]]);
  return new Float32Array([...columns.flat(), 0, 0, -a * far + b, far]);
};
