'use strict';
// The inbox with the real client, a double of the agent, and doubles of Electron's modules.

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const runner = require('node:test');
const { Inbox } = require('../inbox');

const PACKAGE = path.join(__dirname, '../../../Packaging/node');
const aldaba = require(PACKAGE);
const { AgentDouble, Queue } = require(path.join(PACKAGE, 'test/agent_double.js'));

const push = (id, title) => ({
  id, identifier: `n${id}`, topic: 'com.example.inbox', date: 1000,
  payload: JSON.stringify({ aps: { alert: { title } } }),
});
const deliver = (id, title) => ({ type: 'deliver', kind: 'foreground', notification: push(id, title) });

let agent, inbox, connection, handlers, window, views;

async function begin() {
  agent = await AgentDouble.listen();
  handlers = new Map();
  views = new Queue();
  window = { isOpen: false, isFront: false, isFocused: () => window.isFront, show: () => { window.isOpen = true; } };
  window.tell = (view) => views.push(structuredClone(view));
  inbox = new Inbox({
    makeClient: (given) => new aldaba.NotificationClient({ app: 'com.example.inbox', socket: agent.path, ...given }),
    ipcMain: { handle: (channel, action) => handlers.set(channel, action) },
    window,
  });
  const started = inbox.start();
  connection = await agent.connection();
  await connection.welcome({ state: 'background' });
  assert.deepEqual(await connection.next(), { type: 'stateChanged', state: 'active' });
  const { categories, request } = await connection.next();
  assert.deepEqual(categories[0].actions.map(({ identifier }) => identifier), ['done', 'reply']);
  connection.send({ type: 'centerAnswered', request, answer: 'done' });
  await started;
}

/** A test that has an inbox, which is connected. */
function test(name, body) {
  runner.test(name, async () => {
    await begin();
    try {
      await body();
    } finally {
      await inbox.stop();
      await agent.close();
    }
  });
}

const ask = (channel) => handlers.get(channel)({});

for (const [isFront, options, place] of [[true, 8, 'not on the desktop'], [false, 26, 'on the desktop']]) {
  test(`a push is in the list, and ${place} where the window's focus is ${isFront}`, async () => {
    window.isFront = isFront;
    connection.send(deliver(5, 'Milk'));
    assert.deepEqual(await connection.next(), { type: 'handled', notification: 5, outcome: 'presented', options });
    assert.deepEqual(ask('inbox:view').items, [{ id: '5', title: 'Milk', body: '', date: 1000, answer: null }]);
    assert.deepEqual(views.values.at(-1), ask('inbox:view'), 'the page was told');
  });
}

test('the list has the last hundred, the newest first', async () => {
  for (let id = 1; id <= 101; id += 1) {
    connection.send(deliver(id, `Push ${id}`));
    await connection.next();
  }
  const { items } = ask('inbox:view');
  assert.deepEqual([items.length, items[0].title, items[99].title], [100, 'Push 101', 'Push 2']);
  ask('inbox:clear');
  assert.deepEqual(ask('inbox:view').items, []);
});

for (const [action, members, answer] of [
  ['done', {}, 'done'], ['reply', { userText: 'at six' }, 'at six'], [aldaba.Action.dismiss, {}, 'dismissed'],
  [aldaba.Action.open, {}, 'opened'],
]) {
  test(`the answer "${answer}" to a push of an earlier run is beside it`, async () => {
    connection.send({ type: 'respond', response: 6, action, notification: push(4, 'Milk'), ...members });
    assert.deepEqual(await connection.next(), { type: 'responseHandled', response: 6 });
    assert.deepEqual(ask('inbox:view').items, [{ id: '4', title: 'Milk', body: '', date: 1000, answer }]);
    assert.equal(window.isOpen, answer === 'opened');
  });
}

/** Answers the question whether the app may notify. */
async function allow(granted, members) {
  const { type, request } = await connection.next();
  assert.equal(type, 'requestAuthorization');
  connection.send({ type: 'authorizationAnswered', request, granted, ...members });
}

test('the button registers, and the token is shown', async () => {
  const registered = ask('inbox:register');
  await allow(true);
  const { request } = await connection.next();
  connection.send({ type: 'registered', request, token: '00ff' });
  assert.deepEqual(await registered, { token: '00ff' });
  assert.equal(ask('inbox:view').token, '00ff');
});

test('without permission there is no token, and the page is told why', async () => {
  const registered = ask('inbox:register');
  await allow(false, { reason: 'Nobody is there.' });
  assert.deepEqual(await registered, { error: 'Nobody is there.' });
});

test('an error goes to the page as its message', async () => {
  const registered = ask('inbox:register');
  await allow(true);
  const { request } = await connection.next();
  connection.send({ type: 'registrationFailed', request, code: 'unreachable', message: 'No server.' });
  assert.deepEqual(await registered, { error: 'No server.' });
});

test('a question comes back with its answer', async () => {
  const asked = ask('inbox:ask');
  for (const command of ['setCategories', 'add']) {
    const message = await connection.next();
    assert.equal(message.command, command);
    connection.send({ type: 'centerAnswered', request: message.request, answer: 'done' });
    if (command === 'add') {
      const notification = { ...push(-3, ''), identifier: message.notification.identifier };
      connection.send({ type: 'respond', response: 7, action: 'yes', notification });
    }
  }
  assert.deepEqual(await asked, { answer: 'yes' });
});

test('the page is told that the agent has ended, and that it is back', async () => {
  await connection.disconnect();
  await (await agent.connection()).welcome();
  const seen = views.values.map(({ status }) => status);
  assert.deepEqual(seen, ['connected', 'the agent has ended; it is looked for again', 'connected']);
});

/** Runs a file of the app with doubles in place of modules. */
function run(file, modules) {
  const load = Module._load;
  Module._load = function (request, ...others) { return modules[request] ?? load.call(this, request, ...others); };
  try {
    const place = require.resolve(path.join('..', file));
    delete require.cache[place];
    require(place);
  } finally {
    Module._load = load;
  }
}

test('the page gets the functions of the preload script alone, and each has a handler', async () => {
  let exposed;
  const invoked = [];
  run('preload.js', { electron: {
    contextBridge: { exposeInMainWorld: (name, functions) => { exposed = { name, functions }; } },
    ipcRenderer: { invoke: (channel) => invoked.push(channel), on: (channel, action) => action({}, channel) },
  } });
  assert.equal(exposed.name, 'inbox');
  const { onChange, ...functions } = exposed.functions;
  for (const action of Object.values(functions)) action();
  assert.deepEqual(invoked.sort(), [...handlers.keys()].sort());
  onChange((view) => assert.equal(view, 'inbox:changed'));
  const page = fs.readFileSync(path.join(__dirname, '../renderer.js'), 'utf8');
  for (const [, name] of page.matchAll(/window\.inbox\.(\w+)/g)) assert.ok(name in exposed.functions, name);
});

class WindowDouble extends EventEmitter {
  webContents = Object.assign(new EventEmitter(), {
    send() {}, setWindowOpenHandler: (given) => { this.opens = given; },
  });

  constructor(options) {
    super();
    WindowDouble.made = this;
    this.options = options;
  }

  loadFile(file) { this.file = file; }

  isDestroyed() { return false; }

  isFocused() { return false; }

  show() {}
}

test('the window is isolated, and the app ends with it', async () => {
  const app = new EventEmitter();
  const quit = new Promise((resolve) => { app.quit = resolve; });
  Object.assign(app, { requestSingleInstanceLock: () => true, whenReady: () => Promise.resolve() });
  const { ALDABA_AGENT_SOCKET: socket } = process.env;
  process.env.ALDABA_AGENT_SOCKET = agent.path;
  run('main.js', { electron: { app, BrowserWindow: WindowDouble, ipcMain: { handle() {} } }, aldaba });
  const second = await agent.connection();
  delete process.env.ALDABA_AGENT_SOCKET;
  if (socket) process.env.ALDABA_AGENT_SOCKET = socket;
  assert.equal((await second.welcome())[0].app, 'com.example.inbox');
  const { options, opens, file } = WindowDouble.made;
  const { contextIsolation, nodeIntegration, sandbox, preload } = options.webPreferences;
  assert.deepEqual([contextIsolation, nodeIntegration, sandbox], [true, false, true]);
  assert.ok(fs.existsSync(preload) && fs.existsSync(file));
  assert.deepEqual(opens(), { action: 'deny' });
  app.emit('window-all-closed');
  await quit;
  await second.ended;
});
