// SPDX-License-Identifier: LGPL-2.1-or-later
// Copyright (C) 2026 the ndconv developers
'use strict';
const byId = id => document.getElementById(id);
const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

// ---- connection

const NAMES = ['before', 'after'];
let socket = null;
let shown = 'before after';
const send = text => {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(text);
};
const sendShown = () => send('show ' + (document.hidden ? '' : shown));

// A program that was started again has another token. The page asks for it, and
// puts it into its address, for the next reload.
async function ask() {
  const answer = await fetch('/metrics' + location.search).catch(() => null);
  byId('ask').hidden = !answer || answer.status !== 403;
  if (!byId('ask').hidden) setState('lost', 'the token is wrong');
}
byId('ask').addEventListener('submit', event => {
  event.preventDefault();
  const found = /[0-9a-f]{32}/.exec(byId('token').value);
  byId('token').value = '';
  if (!found) return;
  history.replaceState(null, '', '/?token=' + found[0]);
  document.querySelectorAll('[data-save]').forEach(setLink);
  byId('ask').hidden = true;
});

function connect() {
  const here = new WebSocket('ws://' + location.host + '/live' + location.search);
  socket = here;
  here.binaryType = 'arraybuffer';
  here.onopen = () => {
    byId('ask').hidden = true;
    sendShown();
  };
  here.onmessage = event => {
    if (typeof event.data === 'string') takeState(JSON.parse(event.data));
    else takePicture(event.data);
  };
  here.onclose = () => {
    setState('lost', 'not connected; trying again');
    ask().then(() => setTimeout(connect, 1000));
  };
}
setInterval(() => send('alive'), 20000);
document.addEventListener('visibilitychange', sendShown);

// ---- pictures

async function takePicture(data) {
  const number = new DataView(data).getUint32(0);
  const canvas = byId(NAMES[new Uint8Array(data)[4]]);
  try {
    const picture = await createImageBitmap(new Blob([new Uint8Array(data, 5)]));
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    canvas.getContext('2d').drawImage(picture, 0, 0);
    picture.close();
    canvas.dataset.count = +(canvas.dataset.count || 0) + 1;
  } finally {
    send('ack ' + number);
  }
}

// The position in samples of the picture, within the letterbox of the canvas.
function place(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const aspect = +canvas.dataset.aspect || canvas.width / canvas.height;
  const width = Math.min(box.width, box.height * aspect);
  const height = width / aspect;
  const x = (event.clientX - box.left - (box.width - width) / 2) / width;
  const y = (event.clientY - box.top - (box.height - height) / 2) / height;
  return (x * canvas.width).toFixed(2) + ' ' + (y * canvas.height).toFixed(2);
}

// GstNavigationModifierType
function modifiers(event) {
  return (event.shiftKey ? 1 : 0) | (event.ctrlKey ? 4 : 0) | (event.altKey ? 8 : 0)
    | (event.buttons & 1 ? 256 : 0) | (event.buttons & 4 ? 512 : 0)
    | (event.buttons & 2 ? 1024 : 0);
}

const KEYS = {
  ArrowLeft: 'Left', ArrowRight: 'Right', ArrowUp: 'Up', ArrowDown: 'Down',
  PageUp: 'Page_Up', PageDown: 'Page_Down', Home: 'Home', End: 'End',
  Escape: 'Escape', ' ': 'space', '+': 'plus', '-': 'minus',
};

function navigate(canvas) {
  const touches = new Map();
  let spread = 0, move = null;

  const distance = () => {
    const [a, b] = [...touches.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, event);
    if (touches.size === 2) {
      spread = distance();
      send('release ' + place(canvas, event) + ' 1 0');
    } else if (touches.size === 1) {
      send('press ' + place(canvas, event) + ' ' + (event.button + 1) + ' '
        + modifiers(event));
    }
  });
  canvas.addEventListener('pointermove', event => {
    if (touches.has(event.pointerId)) touches.set(event.pointerId, event);
    if (touches.size === 2) {
      const now = distance();
      if (Math.abs(now - spread) > 12) {
        // With the key Control: to zoom, in all modes.
        send('scroll ' + place(canvas, event) + ' 0 ' + (now > spread ? 1 : -1) + ' 4');
        spread = now;
      }
      return;
    }
    // One move for each picture of the screen.
    if (!move) requestAnimationFrame(() => {
      send('move ' + place(canvas, move) + ' ' + modifiers(move));
      move = null;
    });
    move = event;
  });
  const up = event => {
    if (!touches.delete(event.pointerId) || touches.size > 0) return;
    send('release ' + place(canvas, event) + ' ' + (event.button + 1 || 1) + ' '
      + modifiers(event));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('contextmenu', event => event.preventDefault());
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const sign = value => value > 0 ? -1 : value < 0 ? 1 : 0;
    send('scroll ' + place(canvas, event) + ' ' + -sign(event.deltaX) + ' '
      + sign(event.deltaY) + ' ' + modifiers(event));
  }, {passive: false});
  canvas.addEventListener('keydown', event => {
    const name = KEYS[event.key] || (/^[a-z0-9]$/i.test(event.key) ? event.key : '');
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    send('key ' + name);
  });
}
NAMES.forEach(name => navigate(byId(name)));

function show(names) {
  shown = names;
  for (const name of NAMES)
    byId('figure-' + name).hidden = !names.includes(name);
  document.querySelectorAll('[data-show]').forEach(button =>
    button.classList.toggle('chosen', button.dataset.show === names));
  sendShown();
}
document.querySelectorAll('[data-show]').forEach(button =>
  button.addEventListener('click', () => show(button.dataset.show)));
function setLink(link) {
  link.href = link.dataset.save + '.png' + location.search;
}
document.querySelectorAll('[data-save]').forEach(link => {
  setLink(link);
  link.addEventListener('click', () => {
    const time = new Date().toISOString().slice(0, 19).replace(/\D/g, '');
    link.download = 'ndconv-' + link.dataset.save + '-' + time + '.png';
  });
});

// ---- controls

// Shown first, in this order; the others are under "More".
const FIRST = ['filter', 'method', 'response', 'gain', 'offset', 'normalize', 'strength',
  'sigma', 'noise', 'output', 'mode', 'axis', 'position', 'colormap', 'window', 'level',
  'projection', 'azimuth', 'elevation', 'zoom', 'opacity', 'position-x', 'position-y',
  'position-z', 'threshold'];
const controls = new Map();     // 'element property' to its parts
let lastSet = '', lastSetTime = 0;     // what this page changed last

function change(key, value) {
  const control = controls.get(key);
  lastSet = key;
  lastSetTime = Date.now();
  control.refusal.hidden = true;
  send(['set', control.element, control.property.name, value].join('\n'));
}

// Sends the newest value, at most 20 in a second.
function gently(key) {
  let waiting = null, value = '';
  return text => {
    value = text;
    if (waiting) return;
    change(key, value);
    const sent = value;
    waiting = setTimeout(() => {
      waiting = null;
      if (value !== sent) change(key, value);
    }, 50);
  };
}

function makeInput(key, id, property) {
  const low = property.low, high = property.high;
  let input, slider = null, blurb = null;
  if (property.kind === 'enum') {
    input = make('select');
    for (const value of property.values) {
      const option = make('option', '', value.nick);
      option.value = value.nick;
      option.title = value.blurb;
      input.append(option);
    }
  } else {
    input = make('input');
    input.type = {boolean: 'checkbox', text: 'text'}[property.kind] || 'number';
    if (property.kind === 'text') input.spellcheck = false;
  }
  if (input.type === 'number') {
    input.step = property.kind === 'integer' ? 1 : 'any';
    if (high - low <= 1000) {
      slider = make('input');
      slider.type = 'range';
      slider.min = low;
      slider.max = high;
      slider.step = property.kind === 'integer' ? 1 : (high - low) / 500;
      slider.setAttribute('aria-label', property.title);
      const set = gently(key);
      slider.addEventListener('input', () => {
        input.value = slider.value;
        set(slider.value);
      });
    }
  }
  input.id = id;
  input.addEventListener('change', () =>
    change(key, input.type === 'checkbox' ? String(input.checked) : input.value));
  return {input, slider};
}

function makeControl(element, property) {
  const key = element.name + ' ' + property.name;
  const id = element.name + '-' + property.name;
  const box = make('div', 'property');
  const top = make('div', 'top');
  const label = make('label', '', property.name);
  const what = make('button', 'what', '?');
  const blurb = make('p', 'blurb', property.blurb);
  const refusal = make('p', 'refusal');
  const parts = makeInput(key, id, property);

  label.htmlFor = id;
  box.title = property.blurb;
  what.type = 'button';
  what.setAttribute('aria-label', 'About ' + property.name);
  what.addEventListener('click', () => { blurb.hidden = !blurb.hidden; });
  blurb.hidden = refusal.hidden = true;
  refusal.setAttribute('role', 'alert');
  top.append(label, what);
  box.append(top);
  (property.kind === 'text' ? box : top).append(parts.input);
  if (parts.slider) box.append(parts.slider);
  box.append(refusal, blurb);
  if (!property.playing) {
    parts.input.disabled = true;
    if (parts.slider) parts.slider.disabled = true;
    blurb.textContent += '. It does not change while the pipeline plays.';
  }
  controls.set(key, {...parts, box, refusal, property, element: element.name});
  return box;
}

function makeControls(elements) {
  const place = byId('controls');
  place.replaceChildren();
  controls.clear();
  for (const element of elements) {
    const box = make('div', 'element');
    const title = make('h2', '', element.name);
    const more = make('details');
    const rank = property => FIRST.indexOf(property.name);
    const all = element.properties;

    title.append(make('small', '', element.factory));
    box.append(title);
    all.filter(p => p.playing && rank(p) >= 0).sort((a, b) => rank(a) - rank(b))
      .forEach(p => box.append(makeControl(element, p)));
    more.append(make('summary', '', 'More'));
    all.filter(p => !(p.playing && rank(p) >= 0))
      .forEach(p => more.append(makeControl(element, p)));
    if (more.children.length > 1) box.append(more);
    place.append(box);
  }
  const both = elements.some(element => element.name === 'filter');
  document.querySelector('.choice').hidden = !both;
  byId('same-window').hidden = !both || !controls.has('view low-percentile');
  show(both ? 'before after' : 'after');
}

function takeValues(values) {
  for (const [element, properties] of Object.entries(values)) {
    for (const [name, value] of Object.entries(properties)) {
      const control = controls.get(element + ' ' + name);
      if (!control) continue;
      control.box.classList.toggle('changed', value !== control.property.default);
      if (element === 'view' && name === 'window')
        byId('same-window').setAttribute('aria-pressed', String(+value !== 0));
      if (control.slider && document.activeElement !== control.slider)
        control.slider.value = value;
      if (document.activeElement === control.input && control.input.type !== 'checkbox'
          && control.input.tagName !== 'SELECT')
        continue;       // the user is typing
      if (control.input.type === 'checkbox') control.input.checked = value === 'true';
      else control.input.value = value;
    }
  }
}

// ---- messages

// The control that a message is about: elements refuse a change with a warning,
// shortly after it.
function controlOf(message) {
  if (message.property) return controls.get(message.element + ' ' + message.property);
  const control = controls.get(lastSet);
  return message.kind === 'warning' && Date.now() - lastSetTime < 10000 && control
    && control.element === message.element ? control : undefined;
}

function takeMessage(message) {
  const control = controlOf(message);
  if (control) {
    control.refusal.textContent = message.text;
    control.refusal.hidden = false;
    return;
  }
  const box = make('div', 'message ' + message.kind);
  const close = make('button', '', '×');
  box.append(make('span', '', (message.element ? message.element + ': ' : '')
    + message.text), close);
  close.type = 'button';
  close.setAttribute('aria-label', 'Close');
  close.addEventListener('click', () => box.remove());
  if (message.kind === 'info') setTimeout(() => box.remove(), 10000);
  const list = byId('messages');
  for (const other of [...list.children])
    if (other.textContent === box.textContent) other.remove();
  list.append(box);
  while (list.children.length > 3) list.firstChild.remove();
}

// ---- numbers

const STAGES = [['upload', '#6fb3d9'], ['compute', '#7fc99b'], ['download', '#b49be0'],
  ['wait', '#58636c']];
const KEPT = 240;       // two minutes
const LOSSES = ['volumes-late', 'volumes-skipped', 'volumes-missing', 'volumes-lost'];
const numbers = [];
let last = null;

function legend() {
  for (const [name, color] of STAGES) {
    const span = make('span'), mark = make('i');
    mark.style.background = color;
    span.append(mark, name);
    byId('legend').append(span);
  }
  byId('legend').append(make('span', '', 'the last two minutes'));
}
legend();

// The sum of what a mean of so many volumes has.
const total = (stats, name) => (stats[name + '-seconds-mean'] || 0) * stats['volumes-out'];

function takeStats(state) {
  const stats = state.stats.filter || Object.values(state.stats)[0] || {};
  const now = {time: state.time, volumes: state.volumes, age: state['age-sum'], stats};
  const losses = LOSSES.reduce((sum, name) => sum + (stats[name] || 0), 0);
  const plan = byId('plan');

  if (stats.method) {
    plan.replaceChildren(make('b', '', stats.backend + ', ' + stats.method),
      ' — ' + stats.reason);
  }
  if (last && now.time - last.time < 0.4) return;
  const seconds = last ? now.time - last.time : 0;
  if (last && now.volumes >= last.volumes && seconds < 5) {
    const n = now.volumes - last.volumes;
    const out = stats['volumes-out'] - last.stats['volumes-out'];
    const before = numbers[numbers.length - 1] || {latency: 0, stages: [0, 0, 0, 0]};
    numbers.push({
      latency: n ? (now.age - last.age) / n * 1e3 : before.latency,
      rate: n / seconds,
      losses: Math.max(0, losses - last.losses),
      stages: out > 0 ? STAGES.map(([name]) => Math.max(0,
        (total(stats, name) - total(last.stats, name)) / out * 1e3)) : before.stages,
    });
    if (numbers.length > KEPT) numbers.shift();
    drawPlots(losses);
  }
  last = {...now, losses};
}

const short = value => value >= 100 ? value.toFixed(0) : value.toFixed(1);

function drawPlot(id, values, colors) {
  const canvas = byId(id), scale = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d');
  const sums = values.map(list => list.reduce((a, b) => a + b, 0));
  const most = Math.max(...sums, 1e-3) * 1.15;
  const left = 34 * scale, bottom = height - 3 * scale, top = 8 * scale;
  const x = i => left + (width - left) * (KEPT - values.length + i) / (KEPT - 1);
  const y = value => bottom - (bottom - top) * value / most;

  context.clearRect(0, 0, width, height);
  context.font = 11 * scale + 'px system-ui, sans-serif';
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const part of [0, 0.5, 1]) {
    const value = most / 1.15 * part;
    context.fillStyle = '#98a3ac';
    context.fillText(value ? short(value) : '0', left - 6 * scale,
      Math.min(y(value), bottom - 4 * scale));
    context.fillStyle = '#2e353b';
    context.fillRect(left, Math.round(y(value)), width - left, 1);
  }
  const base = new Array(values.length).fill(0);
  colors.forEach((color, part) => {
    context.beginPath();
    base.forEach((value, i) => context.lineTo(x(i), y(value + values[i][part])));
    if (colors.length > 1) {
      for (let i = base.length - 1; i >= 0; i--) context.lineTo(x(i), y(base[i]));
      context.fillStyle = color;
      context.fill();
    } else {
      context.strokeStyle = color;
      context.lineWidth = 1.5 * scale;
      context.stroke();
    }
    values.forEach((list, i) => { base[i] += list[part]; });
  });
}

function drawPlots(losses) {
  const now = numbers[numbers.length - 1];
  byId('value-latency').textContent = short(now.latency) + ' ms';
  byId('value-rate').textContent = short(now.rate) + ' /s';
  byId('value-losses').textContent = losses + ' volumes';
  byId('value-stages').textContent =
    short(now.stages.reduce((a, b) => a + b, 0)) + ' ms';
  drawPlot('plot-latency', numbers.map(h => [h.latency]), ['#6fb3d9']);
  drawPlot('plot-rate', numbers.map(h => [h.rate]), ['#7fc99b']);
  drawPlot('plot-losses', numbers.map(h => [h.losses]), ['#f08a80']);
  drawPlot('plot-stages', numbers.map(h => h.stages), STAGES.map(stage => stage[1]));
}

// ---- state

function setState(name, text) {
  byId('state').className = name;
  byId('state').textContent = text;
}

function takeState(state) {
  send('ack ' + state.ack);
  if (state.controls) makeControls(state.controls);
  if (state.values) takeValues(state.values);
  setState(state.state, state.state);
  state.aspects.forEach((aspect, i) => {
    const canvas = byId(NAMES[i]);
    if (!aspect || +canvas.dataset.aspect === aspect) return;
    canvas.dataset.aspect = aspect;
    canvas.style.aspectRatio = aspect;
  });
  byId('restart').hidden = state.state === 'playing';
  const record = byId('record');
  record.disabled = !state['can-record'];
  record.title = record.disabled ? 'Start ndconv-web with --record FOLDER' : '';
  record.classList.toggle('on', 'recorded' in state);
  record.lastChild.textContent = 'recorded' in state
    ? 'Stop (' + state.recorded + ')' : 'Record';
  takeStats(state);
  state.messages.forEach(takeMessage);
}
byId('record').addEventListener('click', () =>
  send('record ' + (byId('record').classList.contains('on') ? 'off' : 'on')));
byId('same-window').addEventListener('click', () => send('same-window '
  + (byId('same-window').getAttribute('aria-pressed') === 'true' ? 'off' : 'on')));
byId('restart').addEventListener('click', () => send('restart'));

connect();
