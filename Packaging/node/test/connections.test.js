'use strict';
// Connections and limits.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { AldabaError, NotificationClient } = require('..');
const { within } = require('./agent_double');
const { answer, connected, deliver, make, test, world } = require('./world');

// Connecting

test('where no agent listens the error names the commands that start one', async () => {
  await world.agent.shut();
  await assert.rejects(make().connect(), (error) => error instanceof AldabaError && error.code === 'noAgent'
    && error.message.includes('systemctl --user start aldaba-agent') && error.message.includes(world.agent.path));
});

test('a client that waits for the agent connects when it has started', async () => {
  await world.agent.shut();
  const connecting = make().connect({ waitsForAgent: true });
  await world.agent.open();
  await (await world.agent.connection()).welcome();
  assert.deepEqual(await connecting, { state: 'active', authorization: 2 });
});

test('the socket is that of the environment', async () => {
  const names = ['ALDABA_AGENT_SOCKET', 'XDG_RUNTIME_DIR', 'XDG_STATE_HOME', 'HOME'];
  const before = { ...process.env };
  const failure = async (variables) => {
    for (const name of names) delete process.env[name];
    Object.assign(process.env, variables);
    const connecting = new NotificationClient({ app: 'a' }).connect();
    return connecting.then(assert.fail, (error) => `${error.code} ${error.message}`);
  };
  try {
    assert.match(await failure({ HOME: '/nobody' }), /^noAgent .*\/nobody\/\.local\/state\/aldaba\/agent\.sock/);
    assert.match(
      await failure({ HOME: '/nobody', XDG_STATE_HOME: '/state' }), /^noAgent .* \/state\/aldaba\/agent\.sock/);
    assert.match(await failure({ XDG_RUNTIME_DIR: '/nowhere' }), /^noAgent .*\/nowhere\/aldaba\/agent\.sock/);
    assert.match(await failure({ XDG_RUNTIME_DIR: '/nowhere', ALDABA_AGENT_SOCKET: '/named' }), /^noAgent .*\/named:/);
    assert.match(await failure({ ALDABA_AGENT_SOCKET: `/${'x'.repeat(107)}` }), /^invalid .*108 bytes; at most 107/);
  } finally {
    for (const name of names) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test('an agent of another version is refused', async () => {
  const connecting = make().connect();
  (await world.agent.connection()).send({ type: 'welcome', version: 2, state: 'active', authorization: 0 });
  await assert.rejects(connecting, { code: 'version', message: /version 2 of the protocol, this client 1/ });
});

test('the run has a name of its own, which later connections repeat', async () => {
  const connecting = make().connect();
  const first = await world.agent.connection();
  const [{ run }] = await first.welcome();
  await connecting;
  assert.match(run, /^[0-9a-f-]{36}$/);
  await first.disconnect();
  assert.equal((await (await world.agent.connection()).welcome())[0].run, run);
});

test('nothing is asked before connect, nor after close', async () => {
  make();
  await assert.rejects(world.client.badge(), { code: 'notConnected', message: /call `connect` first/ });
  const connecting = world.client.connect();
  await (await world.agent.connection()).welcome();
  await connecting;
  const asked = world.client.badge();
  const failed = assert.rejects(asked, { code: 'closed' });
  await world.client.close();
  await failed;
  await assert.rejects(world.client.badge(), { code: 'notConnected' });
});

test('a client that was closed connects anew', async () => {
  const first = await connected();
  await world.client.close();
  await within(first.ended, 'the end of the first connection');
  const connecting = world.client.connect();
  await (await world.agent.connection()).welcome();
  assert.equal((await connecting).state, 'active');
});

test('a client that is closed while it connects says hello once, on the next connection', async () => {
  make().connect().catch(() => {});
  world.client.close();
  const connecting = world.client.connect();
  const [first, second] = [await world.agent.connection(), await world.agent.connection()];
  await within(first.ended, 'the end of the first connection');
  assert.deepEqual(first.messages.values, []);
  assert.deepEqual((await second.welcome()).map(({ type }) => type), ['hello', 'stateChanged', 'ready']);
  await connecting;
  world.client.setState('inactive');
  assert.deepEqual(await second.next(), { type: 'stateChanged', state: 'inactive' });
});

test('the state of the app is its own on later connections', async () => {
  const first = await connected();
  world.client.setState('background');
  assert.deepEqual(await first.next(), { type: 'stateChanged', state: 'background' });
  await first.disconnect();
  const [, changed] = await (await world.agent.connection()).welcome();
  assert.deepEqual(changed, { type: 'stateChanged', state: 'background' });
});

test('the pause before the next connection grows', async () => {
  const connection = await connected();
  const times = [];
  for (let ended = connection; times.length < 5; times.push(performance.now())) {
    await ended.disconnect();
    ended = await world.agent.connection();
  }
  const pauses = times.slice(1).map((time, place) => time - times[place]);
  assert.ok(pauses.at(-1) > 2 * pauses[0] && pauses.at(-1) >= 0.75 * 800, `pauses of ${pauses} ms`);
});

// Limits

test('an agent that confirms nothing is given up after 10,000 answers', async () => {
  const connection = await connected();
  const closed = once(world.client, 'closed');
  for (let id = 1; id <= 10_001; id += 1) connection.send(deliver(id));
  const [{ code, message }] = await within(closed, 'the end');
  assert.deepEqual([code, message], ['unconfirmed', 'the agent has not confirmed 10001 answers']);
  assert.equal(world.client.connected, false);
});

test('more than 10,000 requests without an answer are refused', async () => {
  await connected();
  const asked = Array.from({ length: 10_000 }, () => world.client.badge());
  for (const each of asked) each.catch(() => {});
  await assert.rejects(
    world.client.badge(), { code: 'tooManyRequests', message: '10000 requests have no answer; await some' });
});

test('requests of more than 16 MiB together are refused, and one of more than 1 MiB', async () => {
  await connected();
  const body = 'x'.repeat(1_000_000);
  const asked = Array.from({ length: 16 }, () => world.client.add({ body }));
  for (const each of asked) each.catch(() => {});
  await assert.rejects(world.client.add({ body }), { code: 'tooManyRequests', message: /16 MiB/ });
  await assert.rejects(
    world.client.add({ body: 'x'.repeat(1 << 20) }), { code: 'tooLarge', message: /at most 1048576/ });
});

test('an agent that reads late gets every request, in order', async () => {
  const connection = await connected();
  connection.socket.pause();
  const body = 'x'.repeat(60_000);
  const added = Array.from({ length: 200 }, (_, place) => world.client.add({ identifier: `n${place}`, body }));
  connection.socket.resume();
  for (let number = 1; number <= 200; number += 1) {
    const { request, notification } = await answer(connection, { answer: 'done' });
    assert.deepEqual([request, notification.identifier], [number, `n${number - 1}`]);
  }
  assert.equal((await Promise.all(added)).length, 200);
});
