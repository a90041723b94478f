'use strict';
// The conversations in Packaging/vectors: each is one test.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { ExactJSON, NotificationClient } = require('..');
const { AgentDouble, Queue, within } = require('./agent_double');

const FOLDER = path.join(__dirname, '..', '..', 'vectors');
const HANDLERS = {
  onNotification: (notification, kind) => ['notification', { kind, notification }],
  onResponse: ({ id, ...members }) => ['response', { response: BigInt(id), ...members }],
  onMessage: (notification) => ['message', { notification }],
  onMessagesDeleted: (value) => ['messagesDeleted', value],
  onUpstreamEnded: (value) => ['upstreamEnded', value],
  onExtend: (notification) => ['extend', { notification }],
};
const EVENTS = {
  token: (token) => ({ token }), state: (state) => ({ state }), openSettings: (notification) => ({ notification }),
  activity: ({ attributes, content: { state, ...content }, ...activity }) => ({
    activity: { ...activity, attributes: text(attributes), content: { ...content, state: text(state) } },
  }),
  startToken: (startToken) => ({ startToken }), channelState: (isConnected) => ({ isConnected }),
  closed: ({ code, message }) => ({ code, message }),
};
const text = (value) => JSON.stringify(value);
const read = ({ state, ...content }) => ({ state: JSON.parse(state), ...content });
const CALLS = {
  connect: (client) => client.connect(),
  requestAuthorization: (client, { options }) => client.requestAuthorization(options),
  register: async (client) => ({ token: await client.register() }),
  add: async (client, { notification }) => { await client.add(notification); },
  setCategories: (client, { categories }) => client.setCategories(categories),
  setBadge: (client, { badge }) => client.setBadge(badge),
  removePending: (client, { identifiers }) => client.removePending(identifiers),
  removeDelivered: (client, { identifiers }) => client.removeDelivered(identifiers),
  openURL: (client, { url, ...options }) => client.openURL(url, options),
  send: async (client, { draft }) => { await client.send(draft); },
  topic: (client, { topic, joins }) => (joins ? client.subscribe(topic) : client.unsubscribe(topic)),
  startActivity: async (client, { activity: { id, attributesType, attributes, content }, pushes }) => {
    const draft = { id, attributesType, attributes: JSON.parse(attributes), content: read(content), pushes };
    await client.startActivity(draft);
  },
  updateActivity: (client, { id, content, alert }) => client.updateActivity(id, read(content), { alert }),
  endActivity: (client, { id, content, dismissal }) =>
    client.endActivity(id, { content: content && read(content), dismissal }),
  fetch: async (client, { url, ...options }) => ({ path: await client.fetch(url, options) }),
};

/** A value as JSON has it: ids of notifications as numbers, the large ones of type `bigint`. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.map(([name, member]) =>
    [name, name === 'id' && 'payload' in value ? plain(BigInt(member)) : plain(member)]));
}

/** A client whose handlers wait for what the conversation answers. */
class Conversation {
  events = new Queue();
  replies = [];

  constructor(agent, options) {
    const handlers = Object.entries(HANDLERS).map(
      ([name, value]) => [name, (...values) => this.#told(...value(...values))]);
    this.agent = agent;
    this.client = new NotificationClient({
      run: null, ...options, socket: agent.path, ...Object.fromEntries(handlers),
      onExpire: (id) => this.events.push({ event: 'expire', value: { notification: BigInt(id) } }),
    });
    for (const [event, value] of Object.entries(EVENTS)) {
      this.client.on(event, (argument) => this.events.push({ event, value: value(argument) }));
    }
    this.client.on('error', () => {});
  }

  #told(event, value) {
    return new Promise((resolve, reject) => this.events.push({ event, value, resolve, reject }));
  }

  async step(step) {
    const [kind] = Object.keys(step);
    const connection = this.connection ??= kind === 'out' ? await this.agent.connection() : undefined;
    switch (kind) {
      case 'call': return this.call(step);
      case 'out': return assert.deepEqual(plain(await connection.next(ExactJSON.stringify(step.out))), step.out);
      case 'in': return connection.send(step.in);
      case 'result': {
        const value = await within(this.replies.shift(), 'the result');
        return assert.deepEqual(plain(value ?? null), step.result);
      }
      case 'error': return assert.rejects(within(this.replies.shift(), 'the error'), step.error);
      case 'event': return this.event(step);
      case 'state': return this.state(step.state);
      case 'disconnect': {
        assert.deepEqual(connection.messages.values, [], 'the client has sent more');
        this.connection = undefined;
        return connection.disconnect();
      }
      default: throw new Error(`an unknown step: ${kind}`);
    }
  }

  call({ call, arguments: given }) {
    const reply = (CALLS[call] ?? ((client) => client[call]()))(this.client, given);
    reply?.catch(() => {}); // A later step looks at it.
    if (reply) this.replies.push(reply);
  }

  async event({ event, value, answer }) {
    const told = await this.events.next(`the event ${event}`);
    assert.deepEqual({ event: told.event, value: plain(told.value) }, { event, value });
    if (answer?.error) told.reject(new Error(answer.error));
    else if (answer) told.resolve(answer);
  }

  async state(wanted) {
    const value = () => plain({
      connected: this.client.connected, token: this.client.token, unconfirmed: this.client.unconfirmed.map(BigInt),
    });
    const text = ExactJSON.stringify;
    const isReached = () => Object.keys(wanted).every((name) => text(value()[name]) === text(wanted[name]));
    const deadline = Date.now() + 10_000;
    while (!isReached() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual({ ...value(), ...wanted }, value());
  }

  async close() {
    const { connection } = this;
    if (connection) {
      await this.client.close();
      await within(connection.ended, 'the end of the connection');
      assert.deepEqual(connection.messages.values, [], 'the client has sent more');
    }
    await this.client.close();
  }
}

const files = fs.readdirSync(FOLDER).filter((name) => name.endsWith('.json')).sort();

test('there are vectors', () => assert.ok(files.length >= 40, `${files.length} vectors`));

for (const file of files) {
  const { title, client, steps } = ExactJSON.parse(fs.readFileSync(path.join(FOLDER, file), 'utf8'));
  test(`${file}: ${title}`, async () => {
    const agent = await AgentDouble.listen();
    const conversation = new Conversation(agent, client);
    try {
      for (const step of steps) await conversation.step(step);
      await conversation.close();
    } finally {
      await conversation.client.close();
      await agent.close();
    }
  });
}
