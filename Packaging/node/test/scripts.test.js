'use strict';
// Whole scripts with a client: when they end, and what they print.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');
const { frame, within } = require('./agent_double');
const { deliver, push, test, world } = require('./world');

const PACKAGE = path.join(__dirname, '..');

function run(script) {
  const child = spawn(
    process.execPath, ['-e', script, world.agent.path, PACKAGE], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text) => { output += text; });
  child.stderr.on('data', (text) => { output += text; });
  return within(once(child, 'close'), 'the end of the script', 20)
    .then(([code]) => ({ code, output })).finally(() => child.kill());
}

const BEGIN = 'const { NotificationClient } = require(process.argv[2]);'
  + 'const options = { app: "a", socket: process.argv[1] };';

test('a script ends when it has closed its client', async () => {
  const ended = run(`${BEGIN} (async () => {
    const client = new NotificationClient(options); await client.connect();
    await client.close(); console.log("done"); })()`);
  await (await world.agent.connection()).welcome();
  assert.deepEqual(await ended, { code: 0, output: 'done\n' });
});

test('a script that waits for pushes outlives the agent', async () => {
  const ended = run(`${BEGIN} (async () => {
    const client = new NotificationClient(options); await client.connect();
    client.once("connected", () => { console.log("again"); client.close(); }); })()`);
  await (await world.agent.connection()).welcome();
  await world.agent.shut();
  await world.agent.open();
  await (await world.agent.connection()).welcome();
  assert.deepEqual(await ended, { code: 0, output: 'again\n' });
});

test('a script whose client is not referenced ends by itself', async () => {
  const ended = run(`${BEGIN} new NotificationClient(options).unref().connect().catch(() => {});
    setTimeout(() => console.log("done"), 50)`);
  assert.deepEqual(await ended, { code: 0, output: 'done\n' });
});

test('a handler that throws prints its error where nobody listens, and the script goes on', async () => {
  const ended = run(`${BEGIN} const client = new NotificationClient({ ...options,
    onNotification() { throw new Error("my fault"); }, onResponse() { client.close(); } }); client.connect();`);
  const connection = await world.agent.connection();
  await connection.welcome();
  connection.send(deliver(1));
  assert.equal((await connection.next()).outcome, 'notPresented');
  connection.send({ type: 'respond', response: 2, action: 'open', notification: push(1) });
  assert.deepEqual(await connection.next(), { type: 'responseHandled', response: 2 });
  const { code, output } = await ended;
  assert.equal(code, 0);
  assert.match(output, /aldaba: onNotification failed: Error: my fault/);
});

test('the error of a listener ends a script as usual, and not the reading before it', async () => {
  const ended = run(`${BEGIN} const client = new NotificationClient({ ...options, onResponse() {} });
    client.on("state", () => { throw new Error("of the listener"); });
    process.on("uncaughtException", ({ message }) => { console.log(message); client.close(); });
    client.connect();`);
  const connection = await world.agent.connection();
  await connection.welcome();
  await connection.write(Buffer.concat([frame({ type: 'enter', state: 'inactive' }), frame(deliver(1))]));
  assert.equal((await connection.next()).type, 'stateChanged');
  assert.equal((await connection.next()).type, 'handled');
  assert.deepEqual(await ended, { code: 0, output: 'of the listener\n' });
});
