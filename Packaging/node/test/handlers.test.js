'use strict';
// Handlers: their answers and errors, and that each is called once.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { Queue, within } = require('./agent_double');
const { connected, deliver, make, push, test, world } = require('./world');

const LARGE = 9007199254740993n;

for (const [kind, returned, outcome] of [
  ['foreground', undefined, { outcome: 'presented', options: 26 }],
  ['foreground', true, { outcome: 'presented', options: 26 }],
  ['foreground', ['badge', 'list'], { outcome: 'presented', options: 9 }],
  ['foreground', 16, { outcome: 'presented', options: 16 }],
  ['foreground', [], { outcome: 'notPresented' }],
  ['foreground', false, { outcome: 'notPresented' }],
  ['foregroundAndBackground', null, { outcome: 'notPresented' }],
  ['foreground', { outcome: 'presented' }, { outcome: 'presented', options: 26 }],
  ['foreground', { outcome: 'presented', options: 'banner' }, { outcome: 'presented', options: 16 }],
  ['background', undefined, { outcome: 'background', result: 'newData' }],
  ['background', 'noData', { outcome: 'background', result: 'noData' }],
  ['call', { outcome: 'background', result: 'failed' }, { outcome: 'background', result: 'failed' }],
]) {
  const text = JSON.stringify;
  test(`a handler in the ${kind} that returns ${text(returned)} answers ${text(outcome)}`, async () => {
    const connection = await connected({ onNotification: async () => returned });
    connection.send(deliver(LARGE, kind));
    assert.deepEqual(await connection.next(), { type: 'handled', notification: LARGE, ...outcome });
    assert.equal(world.client.errors.values.length, 0);
  });
}

for (const [kind, outcome] of [
  ['foreground', { outcome: 'notPresented' }], ['background', { outcome: 'background', result: 'failed' }],
]) {
  for (const [name, handler, expected] of [
    ['throws', () => { throw new Error('my fault'); }, { message: 'my fault' }],
    ['rejects', async () => { throw new Error('my fault'); }, { message: 'my fault' }],
    ['returns nonsense', () => ({ outcome: 'background', result: 'other' }), { code: 'invalid' }],
    ['does not end', () => new Promise(() => {}), { code: 'timeout', message: 'onNotification took more than 50 ms' }],
  ]) {
    test(`a handler that ${name} in the ${kind} is answered for, and its error told`, async () => {
      const connection = await connected({ onNotification: handler, handlerTimeout: 50 });
      connection.send(deliver(5, kind));
      assert.deepEqual(await connection.next(), { type: 'handled', notification: 5, ...outcome });
      const error = await world.client.errors.next('the error');
      for (const [member, value] of Object.entries(expected)) assert.equal(error[member], value);
    });
  }
}

test('without handlers everything is answered', async () => {
  const connection = await connected();
  for (const [message, reply] of [
    [deliver(1), { type: 'handled', notification: 1, outcome: 'presented', options: 26 }],
    [deliver(2, 'background'), { type: 'handled', notification: 2, outcome: 'background', result: 'noData' }],
    [{ type: 'respond', response: 3, action: 'open', notification: push() }, { type: 'responseHandled', response: 3 }],
    [{ type: 'channel', event: 'message', notification: push(4) }, { type: 'channel', command: 'taken', message: 4 }],
    [{ type: 'messagesDeleted', deletion: 5, count: 1, since: 1 }, { type: 'deletionTaken', deletion: 5 }],
  ]) {
    connection.send(message);
    assert.deepEqual(await connection.next(), reply);
  }
});

test('a connection that ends while a handler runs: no second call, and the answer on the new connection', async () => {
  const calls = new Queue();
  const first = await connected({ onNotification: () => new Promise((resolve) => calls.push(resolve)) });
  first.send(deliver(LARGE));
  const finish = await calls.next('the call');
  await first.disconnect();
  const second = await world.agent.connection();
  assert.deepEqual((await second.welcome()).map(({ type }) => type), ['hello', 'stateChanged', 'ready']);
  second.send(deliver(LARGE));
  second.send({ type: 'enter', state: 'inactive' });
  assert.equal((await second.next()).type, 'stateChanged', 'it has read what came before');
  finish(['list']);
  const handled = { type: 'handled', notification: LARGE, outcome: 'presented', options: 8 };
  assert.deepEqual(await second.next(), handled);
  second.send(deliver(LARGE));
  assert.deepEqual(await second.next(), handled);
  assert.deepEqual(world.client.unconfirmed, [String(LARGE)]);
  await second.disconnect();
  const third = await world.agent.connection();
  assert.deepEqual((await third.welcome())[1], handled);
  assert.equal(calls.values.length, 0, 'the handler was called once');
});

test('what is not confirmed but known is not given to the app again', async () => {
  const calls = [];
  const first = await connected({ onMessagesDeleted: (value) => { calls.push(value); } });
  const message = { type: 'messagesDeleted', deletion: LARGE, count: 7, since: 8 };
  first.send(message);
  assert.deepEqual(await first.next(), { type: 'deletionTaken', deletion: LARGE });
  await first.disconnect();
  const second = await world.agent.connection();
  assert.equal((await second.welcome()).length, 3, 'it is not repeated by itself');
  second.send(message);
  assert.deepEqual(await second.next(), { type: 'deletionTaken', deletion: LARGE });
  assert.deepEqual(calls, [{ count: 7, since: 8 }]);
});

test('a service extension learns that its time is almost over', async () => {
  const aborted = new Queue();
  make({ role: 'serviceExtension', onExtend: (_, { signal }) => new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      aborted.push(signal.reason.code);
      resolve({ content: { title: 'Late' } });
    });
  }) });
  const connecting = world.client.connect();
  const connection = await world.agent.connection();
  await connection.next();
  connection.send({ type: 'welcome', version: 1, state: 'background', authorization: 2 });
  await connecting;
  connection.send({ type: 'extend', notification: push(LARGE) });
  connection.send({ type: 'expire', notification: LARGE });
  assert.deepEqual(await connection.next(), { type: 'extended', notification: LARGE, content: { title: 'Late' } });
  assert.deepEqual(aborted.values, ['expired']);
});

test('a handler of the expiry that rejects is told as an error', async () => {
  make({ role: 'serviceExtension', onExpire: async () => { throw new Error('my fault'); } });
  const failed = once(world.client, 'error');
  const connecting = world.client.connect();
  const connection = await world.agent.connection();
  await connection.next();
  connection.send({ type: 'welcome', version: 1, state: 'background', authorization: 2 });
  await connecting;
  connection.send({ type: 'expire', notification: LARGE });
  assert.equal((await within(failed, 'the error is told'))[0].message, 'my fault');
});

test('the direct channel is told once to be open, and to be closed when the connection ends', async () => {
  const connection = await connected();
  const states = [];
  world.client.on('channelState', (isConnected) => states.push(isConnected));
  world.client.openChannel();
  await connection.next();
  for (const isConnected of [true, true]) connection.send({ type: 'channel', event: 'state', isConnected });
  const told = once(world.client, 'openSettings');
  connection.send({ type: 'openSettings' });
  await within(told, 'the agent has been heard');
  assert.deepEqual(states, [true]);
  const closed = once(world.client, 'channelState');
  await connection.disconnect();
  assert.deepEqual(await within(closed, 'the channel is closed'), [false]);
});
