'use strict';
// A client and a double of its agent for each test of a file.

const runner = require('node:test');
const { NotificationClient } = require('..');
const { AgentDouble, Queue } = require('./agent_double');

/** The `agent` of the running test, and its `client` once it is made. */
const world = {};

/** A test that has an agent, and whose client is closed at its end. */
function test(name, body) {
  runner.test(name, async () => {
    world.agent = await AgentDouble.listen();
    try {
      await body();
    } finally {
      await world.client?.close();
      world.client = undefined;
      await world.agent.close();
    }
  });
}

/** A client of the agent, which keeps its errors in `errors`. */
function make(options = {}) {
  world.client = new NotificationClient({ app: 'com.example.app', socket: world.agent.path, ...options });
  world.client.errors = new Queue();
  world.client.on('error', (error) => world.client.errors.push(error));
  return world.client;
}

/** Makes a client and welcomes it; returns its connection. */
async function connected(options) {
  const connecting = make(options).connect();
  const connection = await world.agent.connection();
  await connection.welcome();
  await connecting;
  return connection;
}

/** Answers a request of the client, and returns it. */
async function answer(connection, members) {
  const request = await connection.next();
  const type = { center: 'centerAnswered', registerForRemoteNotifications: 'registered' }[request.type] ?? 'channel';
  connection.send({ type, request: request.request, ...members });
  return request;
}

const push = (id = 5, members = {}) => (
  { id, identifier: `n${id}`, topic: 'a', date: 1, payload: '{"aps":{}}', ...members });
const deliver = (id, kind = 'foreground') => ({ type: 'deliver', kind, notification: push(id) });

module.exports = { answer, connected, deliver, make, push, test, world };
