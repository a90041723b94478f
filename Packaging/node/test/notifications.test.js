'use strict';
// Notifications, questions to the person, and tokens.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { Action, DeliveredNotification, NotificationClient, Trigger } = require('..');
const { within } = require('./agent_double');
const { answer, connected, deliver, push, test, world } = require('./world');

const LARGE = 9007199254740993n;

// Notifications

test('a push is read by its members', () => {
  const of = (alert, members) => new DeliveredNotification(
    push(LARGE, { payload: JSON.stringify({ aps: { alert }, todo: 1 }), ...members }));
  assert.deepEqual([of({ title: 'T', body: 'B' }).title, of({ title: 'T', body: 'B' }).body], ['T', 'B']);
  assert.deepEqual([of('B').title, of('B').body, of(undefined).body], ['', 'B', '']);
  assert.equal(of('B', { content: { body: 'Translated' } }).body, 'Translated');
  assert.deepEqual(of('B').userInfo, { aps: { alert: 'B' }, todo: 1 });
  const local = new DeliveredNotification({ ...push(-4), payload: '{}', content: { title: 'L', userInfo: '{"a":1}' } });
  assert.deepEqual([local.isRemote, local.title, local.userInfo, local.id], [false, 'L', { a: 1 }, '-4']);
  assert.equal(JSON.parse(JSON.stringify(of('B'))).id, String(LARGE));
});

test('a notification is added with plain members, options by names, and a trigger', async () => {
  const connection = await connected();
  const added = world.client.add({
    title: 'Tea', sound: 'default', userInfo: { cup: LARGE }, trigger: Trigger.timeInterval(90),
    actions: [{ identifier: 'more', title: 'More', options: ['foreground', 'destructive'] }],
  });
  const { notification } = await answer(connection, { answer: 'done' });
  assert.deepEqual(notification.content, {
    title: 'Tea', sound: {}, userInfo: `{"cup":${LARGE}}`,
    actions: [{ identifier: 'more', title: 'More', options: 6 }] });
  assert.deepEqual(notification.trigger, { type: 'timeInterval', seconds: 90, repeats: false });
  assert.equal(await added, notification.identifier);
});

test('triggers are what the agent reads', () => {
  assert.deepEqual(
    Trigger.calendar({ hour: 9 }, { repeats: true }), { type: 'calendar', components: { hour: 9 }, repeats: true });
  assert.deepEqual(
    Trigger.at(new Date(2030, 0, 2, 3, 4, 5)).components,
    { year: 2030, month: 1, day: 2, hour: 3, minute: 4, second: 5 });
  assert.deepEqual(Trigger.region({ identifier: 'home', latitude: 1, longitude: 2, radius: 3 }), {
    type: 'region', repeats: false,
    region: { identifier: 'home', latitude: 1, longitude: 2, radius: 3, onEntry: true, onExit: false } });
});

for (const [call, message] of [
  [() => world.client.add({ titel: 'Tea' }), /has no member "titel"; its members are title,/],
  [() => world.client.add({ title: 5 }), /title must be a text, not 5/],
  [() => world.client.add({ content: {}, title: 'Tea' }), /the member "title" belongs into it/],
  [() => world.client.add({ identifier: '', title: 'Tea' }), /identifier must be a text that is not empty/],
  [() => world.client.add({ title: 'Tea', trigger: { seconds: 5 } }), /the trigger must be what Trigger\./],
  [() => world.client.add({ title: 'Tea', interruptionLevel: 'loud' }),
    /one of passive, active, time-sensitive, critical/],
  [() => world.client.add({ title: 'Tea', sound: { volume: 'high' } }), /sound\.volume must be a number/],
  [() => world.client.add({ title: 'Tea', attachments: [{ path: '/a.png' }] }),
    /attachments\[0\]\.identifier must be a text/],
  [() => world.client.add({ title: 'Tea', actions: [{ identifier: 'a', title: 'A', options: ['loud'] }] }),
    /no option is named "loud"; the names are authenticationRequired, destructive, foreground/],
  [() => world.client.setCategories([{ identifier: 'a', option: 1 }]), /categories\[0\] has no member "option"/],
  [() => world.client.requestAuthorization(['alerts']), /no option is named "alerts"/],
  [() => world.client.removeDelivered('tea'), /an array of texts/],
  [() => world.client.setBadge(-1), /a whole number from 0/],
  [() => world.client.startActivity({ attributesType: 'A', attributes: [], content: {} }),
    /attributes must be an object/],
  [() => world.client.startActivity({ attributesType: 'A', attributes: {}, content: {} }),
    /state must be a JSON value/],
  [() => world.client.startActivity({ attributesType: 'A', attributes: {}, content: { state: 1 }, pushes: 'all' }),
    /pushes must be none, token or channel:ID/],
  [() => world.client.updateActivity('a', { state: 1, staleDate: new Date(NaN) }), /staleDate must be a date/],
  [() => world.client.updateActivity('a', { state: 1 }, { alert: { title: 1 } }), /alert\.title must be a text/],
  [() => world.client.endActivity('a', { dismissal: 'soon' }), /dismissal must be a date/],
  [() => world.client.subscribe(''), /the topic must be a text/],
  [() => world.client.send({ to: 'a', data: { a: 1 } }), /data must be an object whose values are texts/],
  [async () => world.client.setState('front'), /one of active, inactive, background/],
  [async () => Trigger.timeInterval(0), /greater than 0, not 0/],
  [async () => Trigger.at(new Date('never')), /a valid Date/],
  [async () => new NotificationClient({ app: 'a', onNotify: () => {} }),
    /has no member "onNotify"; its members are app,/],
  [async () => new NotificationClient({ app: 'a', onResponse: true }), /onResponse must be a function/],
  [async () => new NotificationClient({ app: 'a', role: 'terminal' }), /one of app, serviceExtension/],
  [async () => new NotificationClient({ app: 'a', handlerTimeout: Infinity }), /at most 2147483647/],
  [async () => new NotificationClient(), /pass `app`, or set ALDABA_APP_ID/],
]) {
  test(`bad input is named: ${message.source}`, async () => {
    const connection = await connected();
    await assert.rejects(call(), { name: 'AldabaError', code: 'invalid', message });
    world.client.setState('inactive');
    assert.equal((await connection.next()).type, 'stateChanged', 'nothing of it was sent');
  });
}

// Questions

async function asking(members) {
  const connection = await connected();
  const answered = world.client.notify({ title: 'Tea?', ...members });
  answered.catch(() => {});
  const { categories } = await answer(connection, { answer: 'done' });
  assert.deepEqual(categories, [{ identifier: 'aldaba.notify', options: 1 }]);
  const { notification } = await answer(connection, { answer: 'done' });
  return { connection, answered, notification };
}

const respond = (notification, action, members = {}) => ({
  type: 'respond', response: 6, action, notification: { ...push(-4), identifier: notification.identifier },
  ...members,
});

test('a question resolves with the answer, after the agent has been told', async () => {
  const { connection, answered, notification } = await asking(
    { actions: { yes: 'Yes' }, reply: { placeholder: 'When?' } });
  assert.deepEqual(notification.content.actions, [
    { identifier: 'yes', title: 'Yes' },
    { identifier: 'reply', title: 'Reply', textInput: { buttonTitle: 'Send', placeholder: 'When?' } }]);
  connection.send({ ...deliver(-4), notification: { ...push(-4), identifier: notification.identifier } });
  assert.deepEqual(await connection.next(), { type: 'handled', notification: -4, outcome: 'presented', options: 26 });
  connection.send(respond(notification, 'reply', { userText: 'at six' }));
  const { action, userText } = await answered;
  world.client.close();
  assert.deepEqual({ action, userText }, { action: 'reply', userText: 'at six' });
  assert.deepEqual(await connection.next(), { type: 'responseHandled', response: 6 });
});

test('a question that is dismissed says so', async () => {
  const { connection, answered, notification } = await asking({});
  connection.send(respond(notification, Action.dismiss));
  assert.equal((await answered).isDismissal, true);
});

test('a question that is aborted is removed from the screen', async () => {
  const abort = new AbortController();
  const { connection, answered, notification } = await asking({ signal: abort.signal });
  abort.abort();
  await assert.rejects(answered, { name: 'AbortError' });
  const removed = await answer(connection, { answer: 'done' });
  assert.deepEqual([removed.command, removed.identifiers], ['removeDelivered', [notification.identifier]]);
});

test('a question that is aborted before it is shown is not shown', async () => {
  const connection = await connected();
  const abort = new AbortController();
  const answered = world.client.notify({ title: 'Tea?', signal: abort.signal });
  const aborted = assert.rejects(answered, { name: 'AbortError' });
  const category = await connection.next();
  abort.abort();
  connection.send({ type: 'centerAnswered', request: category.request, answer: 'done' });
  await within(aborted, 'the question is aborted');
  world.client.badge().catch(() => {});
  assert.equal((await connection.next()).command, 'badge', 'nothing was added');
});

test('a question that cannot be shown fails with the reason', async () => {
  const connection = await connected();
  const answered = world.client.notify({ title: 'Tea?' });
  const failed = assert.rejects(answered, { code: 1, message: 'not allowed' });
  await answer(connection, { answer: 'done' });
  await answer(connection, { answer: 'failed', code: 1, message: 'not allowed' });
  await failed;
});

test('the category of questions is added once, and again after all were removed', async () => {
  const { connection } = await asking({});
  const commands = [];
  for (const removesAll of [false, true]) {
    if (removesAll) {
      world.client.setCategories([]);
      commands.push((await answer(connection, { answer: 'done' })).command);
    }
    world.client.notify({ title: 'Cake?' }).catch(() => {});
    do commands.push((await answer(connection, { answer: 'done' })).command); while (commands.at(-1) !== 'add');
  }
  assert.deepEqual(commands, ['add', 'setCategories', 'setCategories', 'add']);
});

test('a category has its options by names', async () => {
  const connection = await connected();
  const set = world.client.setCategories(
    [{ identifier: 'tea', actions: { more: 'More' }, options: ['hiddenPreviewsShowTitle'] }]);
  const { categories } = await answer(connection, { answer: 'done' });
  assert.deepEqual(categories, [{ identifier: 'tea', actions: [{ identifier: 'more', title: 'More' }], options: 4 }]);
  await set;
});

// Tokens

test('two calls of register ask once', async () => {
  const connection = await connected();
  const tokens = Promise.all([world.client.register(), world.client.register()]);
  await answer(connection, { token: '00ff' });
  assert.deepEqual(await tokens, ['00ff', '00ff']);
});

test('a token that comes after a failure is told', async () => {
  const connection = await connected();
  const failed = assert.rejects(world.client.register(), { code: 'unreachable' });
  const { request } = await connection.next();
  connection.send({ type: 'registrationFailed', request, code: 'unreachable', message: 'No server.' });
  await failed;
  const told = once(world.client, 'token');
  connection.send({ type: 'registered', token: '00ff' });
  assert.deepEqual(await within(told, 'the token'), ['00ff']);
  assert.equal(world.client.token, '00ff');
});

test('a token that is wanted after one that ends is asked for after the end', async () => {
  const first = await connected();
  const asked = [world.client.unregister(), world.client.register()];
  for (const each of asked) each.catch(() => {});
  await first.next();
  await first.next();
  await first.disconnect();
  const messages = await (await world.agent.connection()).welcome();
  assert.deepEqual(messages.slice(1, 3).map(({ type, request }) => [type, request]), [
    ['unregisterForRemoteNotifications', 1], ['registerForRemoteNotifications', 2]]);
});

test('an end of the token that could not be asked for is repeated on the next connection', async () => {
  const first = await connected();
  const registered = world.client.register();
  registered.catch(() => {});
  await first.next();
  const ended = world.client.unregister();
  await assert.rejects(registered, { code: 'unregistered' });
  const failed = assert.rejects(ended, { code: 'ServiceNotAvailable' });
  await answer(first, { event: 'refused', code: 'ServiceNotAvailable', message: 'No server.' });
  await failed;
  await first.disconnect();
  const second = await world.agent.connection();
  const repeated = (await second.welcome())[1];
  assert.equal(repeated.type, 'unregisterForRemoteNotifications');
  second.send({ type: 'channel', event: 'accepted', request: repeated.request });
  await second.disconnect();
  assert.equal((await (await world.agent.connection()).welcome()).length, 3, 'it is not asked for again');
});
