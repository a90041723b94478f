'use strict';
// The agent as a test sees it: a Unix socket in a temporary folder, whose frames the test reads and writes.

const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { ExactJSON } = require('..');

const SECONDS = 10;

/** The promise's value; fails with the reason where it does not come in time. */
function within(promise, reason, seconds = SECONDS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${seconds} s: ${reason}`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Values in the order in which they came; `next` waits for one. */
class Queue {
  values = [];
  #takers = [];

  push(value) {
    const taker = this.#takers.shift();
    if (taker) taker(value);
    else this.values.push(value);
  }

  next(reason) {
    if (this.values.length > 0) return Promise.resolve(this.values.shift());
    return within(new Promise((resolve) => this.#takers.push(resolve)), reason);
  }
}

function frame(body) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : ExactJSON.stringify(body));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** One connection of a client. */
class Connection {
  messages = new Queue();
  ended = new Promise((resolve) => { this.end = resolve; });
  #bytes = Buffer.alloc(0);

  constructor(socket) {
    this.socket = socket;
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', () => {});
    socket.on('close', () => this.end());
  }

  #read(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= 4 && this.#bytes.length >= 4 + this.#bytes.readUInt32BE(0)) {
      const end = 4 + this.#bytes.readUInt32BE(0);
      this.messages.push(ExactJSON.parse(this.#bytes.subarray(4, end).toString()));
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  next(reason = 'a message of the client') { return this.messages.next(reason); }

  send(message) { this.socket.write(frame(message)); }

  write(bytes) { return new Promise((resolve) => this.socket.write(bytes, resolve)); }

  /** Welcomes the client, and returns its messages up to `ready`. */
  async welcome(members = {}) {
    const messages = [await this.next('hello')];
    this.send({ type: 'welcome', version: 1, state: 'active', authorization: 2, ...members });
    while (messages.at(-1).type !== 'ready') messages.push(await this.next('ready'));
    return messages;
  }

  disconnect() {
    this.socket.destroySoon();
    return this.ended;
  }
}

/** The agent's socket. */
class AgentDouble {
  connections = new Queue();
  #all = [];

  static async listen() {
    const agent = new AgentDouble();
    agent.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-'));
    agent.path = path.join(agent.folder, 'a.sock');
    await agent.open();
    return agent;
  }

  open() {
    this.server = net.createServer((socket) => {
      const connection = new Connection(socket);
      this.#all.push(connection);
      this.connections.push(connection);
    });
    return new Promise((resolve, reject) => this.server.once('error', reject).listen(this.path, resolve));
  }

  connection() { return this.connections.next('a connection of the client'); }

  /** Stops listening, and ends every connection. */
  shut() {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const { socket } of this.#all) socket.destroy();
    return closed;
  }

  async close() {
    if (this.server.listening) await this.shut();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

module.exports = { AgentDouble, Queue, frame, within };
