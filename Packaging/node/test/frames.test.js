'use strict';
// Frames and numbers: any division, large integers, what cannot be read.

const assert = require('node:assert/strict');
const { ExactJSON } = require('..');
const { Queue, frame, within } = require('./agent_double');
const { connected, deliver, make, test, world } = require('./world');

const LARGE = 9007199254740993n;

test('a frame may be divided at any byte', async () => {
  const seen = new Queue();
  const connection = await connected({ onNotification: (notification) => { seen.push(notification.payload); } });
  const bytes = Buffer.concat([frame(deliver(1)), frame(deliver(LARGE))]);
  for (const byte of bytes) await connection.write(Buffer.of(byte));
  const ids = [await connection.next(), await connection.next()].map(({ notification }) => notification);
  assert.deepEqual(ids, [1, LARGE]);
  for (let place = 1; place < bytes.length; place += 7) {
    await connection.write(bytes.subarray(0, place));
    await connection.write(bytes.subarray(place));
    assert.deepEqual([(await connection.next()).notification, (await connection.next()).notification], [1, LARGE]);
  }
  assert.equal(seen.values.length, 2, 'each was given to the app once');
});

for (const [text, value] of [
  ['9007199254740993', LARGE], ['-9223372036854775808', -(2n ** 63n)], ['[1,9223372036854775807]', [1, 2n ** 63n - 1n]],
  ['9007199254740991', 9007199254740991], ['{"a":"9007199254740993"}', { a: '9007199254740993' }],
  ['["\\\\\\"9007199254740993",9007199254740993]', ['\\"9007199254740993', LARGE]],
  ['0.12345678901234567', 0.12345678901234567], ['1234567890123456789e0', 1234567890123456800],
]) {
  test(`the number in ${text} keeps its digits`, () => {
    assert.deepEqual(ExactJSON.parse(text), value);
    if (!text.includes('.') && !text.includes('e0')) assert.equal(ExactJSON.stringify(ExactJSON.parse(text)), text);
  });
}

test('a number with zeros before it is no JSON, however long', () => {
  assert.throws(() => ExactJSON.parse('[009007199254740993]'), SyntaxError);
});

test('a packet about relaying is ignored', async () => {
  const connection = await connected();
  await connection.write(Buffer.concat([frame(Buffer.of(0, 1, 2)), frame(deliver(1))]));
  assert.equal((await connection.next()).notification, 1);
});

const MALFORMED = [
  ['a length of 1 MiB and 1 byte', Buffer.of(0, 0x10, 0, 1), /1048577 bytes; at most 1048576/],
  ['no JSON', frame('{"type":'), /not JSON/],
  ['an empty frame', frame(''), /not JSON/],
  ['bytes that are not UTF-8', frame(Buffer.of(0x22, 0xff, 0x22)), /not JSON/],
  ['an array', frame('[]'), /JSON object/],
  ['no type', frame('{"typ":"welcome"}'), /JSON object/],
  ['a text before the welcome', frame({ type: 'enter', state: 'active' }), /"enter" before it welcomed/],
];

for (const [name, bytes, message] of MALFORMED) {
  test(`${name} in place of a welcome fails the connection with a reason`, async () => {
    const connecting = make().connect();
    const connection = await world.agent.connection();
    await connection.write(bytes);
    await assert.rejects(connecting, { code: 'malformed', message });
    await within(connection.ended, 'the end of the connection');
  });
}

for (const [name, bytes, message] of [
  ...MALFORMED.slice(0, -1),
  ['a notification without its id', frame({ type: 'deliver', kind: 'foreground', notification: {} }),
    /an id that is not a whole/],
  ['a confirmation without ids', frame({ type: 'handledConfirmed' }), /iterable/],
]) {
  test(`${name} from an agent is told, and ends the connection for another one`, async () => {
    const connection = await connected();
    await connection.write(bytes);
    const error = await world.client.errors.next('the error');
    assert.equal(error.code, 'malformed');
    assert.match(error.message, message);
    await (await world.agent.connection()).welcome();
  });
}
