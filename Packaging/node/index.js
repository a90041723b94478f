'use strict';
// A client of Aldaba's agent: it shows notifications, reports the person's answers, and receives pushes. One file, no
// dependencies, Node.js 18 or newer. README.md describes the API, index.d.ts has the types.

const { randomBytes, randomUUID } = require('node:crypto');
const { EventEmitter } = require('node:events');
const net = require('node:net');
const { homedir } = require('node:os');
const path = require('node:path');
const { isDeepStrictEqual } = require('node:util');

const VERSION = 1;
const LONGEST_FRAME = 1 << 20;
const LONGEST_PATH = 107;
const REQUEST_LIMIT = 10_000;
const REQUEST_BYTES_LIMIT = 16 << 20;
const UNSENT_BYTES_LIMIT = 32 << 20;
const UNCONFIRMED_LIMIT = 10_000;
const ENDED_LIMIT = 1_000;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 5_000;
const STABLE_CONNECTION = 2_000;
const WELCOME_LIMIT = 10_000;
const HANDLER_LIMIT = 30_000;
const CLOSE_LIMIT = 1_000;
const LONGEST_TIME_TO_LIVE = 86_400;
const OWN_CATEGORY = 'aldaba.notify';

/** An error of the client or the agent. `code` is stable; `message` says what would be right. */
class AldabaError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = 'AldabaError';
    this.code = code;
  }
}

const invalid = (message) => new AldabaError('invalid', message);
const malformed = (message, cause) => new AldabaError('malformed', message, cause && { cause });
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// MARK: Exact JSON

// Stands before a large integer while it is a string. It is random, so that no text contains it.
const MARK = `aldaba-integer-${randomBytes(12).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The index after the string that begins at `start`. */
function endOfString(text, start) {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const isLargeInteger = (number) => /^-?[1-9]\d{15,39}$/.test(number) && !Number.isSafeInteger(Number(number));

/** The text with each integer that a double does not hold as a marked string. */
function markLargeIntegers(text) {
  let marked = '', copied = 0, place = 0;
  while (place < text.length) {
    const character = text[place];
    if (character === '"') {
      place = endOfString(text, place);
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = place;
      const number = NUMBER.exec(text)?.[0] ?? character;
      if (isLargeInteger(number)) {
        marked += `${text.slice(copied, place)}"${MARK}${number}"`;
        copied = place + number.length;
      }
      place += number.length;
    } else {
      place += 1;
    }
  }
  return marked + text.slice(copied);
}

/** JSON whose integers keep all their digits: those that a double does not hold are of type `bigint`. */
const ExactJSON = Object.freeze({
  parse(text) {
    if (!/\d{16}/.test(text)) return JSON.parse(text);
    return JSON.parse(markLargeIntegers(text), (_, value) =>
      typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);
  },
  stringify(value) {
    let hasLarge = false;
    const text = JSON.stringify(value, function (key, replaced) {
      if (typeof this[key] !== 'bigint') return replaced;
      hasLarge = true;
      return MARK + this[key];
    });
    return hasLarge ? text.replace(MARKED, '$1') : text;
  },
});

// MARK: Frames

/** The frame of a message: four bytes of length, then its JSON text. */
function encodeFrame(message) {
  let text;
  try {
    text = ExactJSON.stringify(message);
  } catch (error) {
    throw new AldabaError('invalid', `${message.type} cannot be written as JSON: ${error.message}`, { cause: error });
  }
  const length = Buffer.byteLength(text);
  if (length > LONGEST_FRAME) {
    throw new AldabaError(
      'tooLarge', `${message.type} is a message of ${length} bytes; at most ${LONGEST_FRAME} are allowed`);
  }
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeUInt32BE(length, 0);
  frame.write(text, 4);
  return frame;
}

/** Divides what a socket reads into the bodies of frames. */
class FrameDecoder {
  #bytes = Buffer.alloc(0);

  append(bytes) {
    this.#bytes = this.#bytes.length ? Buffer.concat([this.#bytes, bytes]) : bytes;
  }

  /** The body of the next frame; `null` while it is not complete. */
  next() {
    if (this.#bytes.length < 4) return null;
    const length = this.#bytes.readUInt32BE(0);
    if (length > LONGEST_FRAME) {
      throw malformed(`a frame of ${length} bytes; at most ${LONGEST_FRAME} are allowed`);
    }
    if (this.#bytes.length < 4 + length) return null;
    const body = this.#bytes.subarray(4, 4 + length);
    this.#bytes = this.#bytes.subarray(4 + length);
    return body;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The message of a frame's body; `null` for a packet about relaying. */
function decodeBody(body) {
  if (body[0] === 0) return null;
  let message;
  try {
    message = ExactJSON.parse(UTF8.decode(body));
  } catch (error) {
    throw malformed(`a frame that is not JSON: ${error.message}`, error);
  }
  if (!isObject(message) || typeof message.type !== 'string') {
    throw malformed('a frame that is not a JSON object with a text in its member `type`');
  }
  return message;
}

// MARK: Options

const AuthorizationOption = Object.freeze({
  badge: 1, sound: 2, alert: 4, carPlay: 8, criticalAlert: 16, providesAppNotificationSettings: 32, provisional: 64,
  announcement: 128, timeSensitive: 256,
});
const PresentationOption = Object.freeze({ badge: 1, sound: 2, alert: 4, list: 8, banner: 16 });
const ActionOption = Object.freeze({ authenticationRequired: 1, destructive: 2, foreground: 4 });
const CategoryOption = Object.freeze({
  customDismissAction: 1, hiddenPreviewsShowTitle: 4, hiddenPreviewsShowSubtitle: 8,
});
const Action = Object.freeze({
  open: 'com.apple.UNNotificationDefaultActionIdentifier',
  dismiss: 'com.apple.UNNotificationDismissActionIdentifier',
});
const SHOWN = PresentationOption.banner | PresentationOption.list | PresentationOption.sound;

/** The bits of options, which are given as a number, a name or names. */
function bits(options, table, where) {
  if (typeof options === 'number' && Number.isSafeInteger(options) && options >= 0) return options;
  const names = typeof options === 'string' ? [options] : options;
  if (!Array.isArray(names)) {
    throw invalid(`${where}: options are an array of names or a number, not ${String(options)}`);
  }
  return names.reduce((sum, name) => {
    if (!Object.hasOwn(table, name)) {
      throw invalid(`${where}: no option is named "${String(name)}"; the names are ${Object.keys(table).join(', ')}`);
    }
    return sum | table[name];
  }, 0);
}

const isText = (value) => typeof value === 'string';
const TYPES = {
  any: [() => true, 'anything'],
  text: [isText, 'a text'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  number: [Number.isFinite, 'a number'],
  integer: [Number.isSafeInteger, 'a whole number'],
  texts: [(value) => Array.isArray(value) && value.every(isText), 'an array of texts'],
  numbers: [(value) => Array.isArray(value) && value.every(Number.isFinite), 'an array of numbers'],
  dictionary: [(value) => isObject(value) && Object.values(value).every(isText), 'an object whose values are texts'],
};

/** Checks the members of an object. The agent ends a connection in which a member has another type. */
function checkMembers(value, types, where) {
  if (!isObject(value)) throw invalid(`${where} must be an object, not ${describe(value)}`);
  for (const [name, member] of Object.entries(value)) {
    if (!Object.hasOwn(types, name)) {
      throw invalid(`${where} has no member "${name}"; its members are ${Object.keys(types).join(', ')}`);
    }
    const [isRight, description] = TYPES[types[name]];
    if (member !== undefined && !isRight(member)) {
      throw invalid(`${where}.${name} must be ${description}, not ${describe(member)}`);
    }
  }
}

function checkIdentifiers(identifiers, where) {
  if (identifiers === undefined) return {};
  if (!TYPES.texts[0](identifiers)) throw invalid(`${where}: the identifiers must be an array of texts`);
  return { identifiers };
}

function describe(value) {
  try {
    return ExactJSON.stringify(value).slice(0, 100);
  } catch {
    return String(value);
  }
}

function checkText(value, where) {
  if (typeof value !== 'string' || value === '') throw invalid(`${where} must be a text that is not empty`);
  return value;
}

// MARK: Notifications

const CONTENT = {
  title: 'text', subtitle: 'text', body: 'text', titleLocalization: 'any', subtitleLocalization: 'any',
  bodyLocalization: 'any', badge: 'integer', sound: 'any', launchImageName: 'text', userInfo: 'any',
  userInfoPropertyList: 'text', attachments: 'any', categoryIdentifier: 'text', threadIdentifier: 'text',
  targetContentIdentifier: 'text', interruptionLevel: 'text', relevanceScore: 'number', filterCriteria: 'text',
  actions: 'any', openTitle: 'any', progress: 'number',
};
const LOCALIZED = ['titleLocalization', 'subtitleLocalization', 'bodyLocalization', 'openTitle'];
const LEVELS = ['passive', 'active', 'time-sensitive', 'critical'];
const LOCALIZATION = { key: 'text', arguments: 'texts' };
const SOUND = { name: 'text', isCritical: 'boolean', volume: 'number' };
const ATTACHMENT = {
  identifier: 'text', path: 'text', type: 'text', hidesThumbnail: 'boolean', thumbnailClippingRect: 'numbers',
  thumbnailTime: 'number',
};
const CATEGORY = {
  identifier: 'text', actions: 'any', intentIdentifiers: 'texts', options: 'any', hiddenPreviewsBodyPlaceholder: 'text',
  categorySummaryFormat: 'text',
};
const ACTION = { identifier: 'text', title: 'text', options: 'any', icon: 'any', textInput: 'any' };
const ICON = { name: 'text', isTemplate: 'boolean' };
const TEXT_INPUT = { buttonTitle: 'text', placeholder: 'text' };
const ACTIVITY = { id: 'text', attributesType: 'text', attributes: 'any', content: 'any', pushes: 'text' };
const DISMISSALS = ['standard', 'immediate'];
const ALERT = { title: 'text', body: 'text', sound: 'any' };
const REGION = {
  identifier: 'text', latitude: 'number', longitude: 'number', radius: 'number', onEntry: 'boolean', onExit: 'boolean',
};

function wireSound(sound) {
  if (sound === true || sound === 'default') return {};
  if (sound === false || sound === null) return undefined;
  const wire = isText(sound) ? { name: sound } : sound;
  checkMembers(wire, SOUND, 'sound');
  return wire;
}

function checkAttachments(attachments) {
  if (!Array.isArray(attachments)) throw invalid('attachments must be an array');
  attachments.forEach((attachment, place) => {
    const where = `attachments[${place}]`;
    checkMembers(attachment, ATTACHMENT, where);
    for (const name of ['identifier', 'path', 'type']) checkText(attachment[name], `${where}.${name}`);
  });
}

function wireAction(action, where) {
  checkMembers(action, ACTION, where);
  checkText(action.identifier, `${where}.identifier`);
  checkText(action.title, `${where}.title`);
  if (action.icon !== undefined) checkMembers(action.icon, ICON, `${where}.icon`);
  if (action.textInput !== undefined) checkMembers(action.textInput, TEXT_INPUT, `${where}.textInput`);
  if (action.options === undefined) return action;
  return { ...action, options: bits(action.options, ActionOption, `${where}.options`) };
}

/** The actions of a notification or category: an array of descriptions, or an object of identifiers and titles. */
function wireActions(actions, where) {
  if (isObject(actions)) {
    return wireActions(Object.entries(actions).map(([identifier, title]) => ({ identifier, title })), where);
  }
  if (!Array.isArray(actions)) throw invalid(`${where} must be an array or an object of identifiers and titles`);
  return actions.map((action, place) => wireAction(action, `${where}[${place}]`));
}

function wireCategory(category, where) {
  checkMembers(category, CATEGORY, where);
  checkText(category.identifier, `${where}.identifier`);
  const wire = { ...category };
  if (wire.actions !== undefined) wire.actions = wireActions(wire.actions, `${where}.actions`);
  if (wire.options !== undefined) wire.options = bits(wire.options, CategoryOption, `${where}.options`);
  return wire;
}

/** The content of a notification as the agent reads it. */
function wireContent(content, where) {
  checkMembers(content, CONTENT, where);
  const wire = { ...content };
  for (const name of LOCALIZED) {
    if (wire[name] === undefined) continue;
    checkMembers(wire[name], LOCALIZATION, `${where}.${name}`);
    checkText(wire[name].key, `${where}.${name}.key`);
  }
  if (wire.interruptionLevel !== undefined && !LEVELS.includes(wire.interruptionLevel)) {
    throw invalid(`${where}.interruptionLevel must be one of ${LEVELS.join(', ')}, not ${wire.interruptionLevel}`);
  }
  if (wire.attachments !== undefined) checkAttachments(wire.attachments);
  if (wire.sound !== undefined) wire.sound = wireSound(wire.sound);
  if (isObject(wire.userInfo)) wire.userInfo = ExactJSON.stringify(wire.userInfo);
  if (wire.userInfo !== undefined && !isText(wire.userInfo)) {
    throw invalid(`${where}.userInfo must be an object, or the JSON text of one`);
  }
  if (wire.actions !== undefined) wire.actions = wireActions(wire.actions, `${where}.actions`);
  return wire;
}

/** The request of `add`, whose content may be among its own members. */
function wireRequest(notification) {
  if (!isObject(notification)) throw invalid('add: the notification must be an object');
  const { identifier = randomUUID(), trigger, content, ...flat } = notification;
  checkText(identifier, 'add: identifier');
  if (content !== undefined && Object.keys(flat).length > 0) {
    throw invalid(`add: with \`content\`, the member "${Object.keys(flat)[0]}" belongs into it`);
  }
  const wire = { identifier, content: wireContent(content ?? flat, 'add: the notification') };
  if (trigger !== undefined && trigger !== null) wire.trigger = checkTrigger(trigger);
  return wire;
}

function checkTrigger(trigger) {
  switch (trigger?.type) {
    case 'timeInterval': return Trigger.timeInterval(trigger.seconds, trigger);
    case 'calendar': return Trigger.calendar(trigger.components, trigger);
    case 'region': return Trigger.region(trigger.region, trigger);
    default: throw invalid('add: the trigger must be what Trigger.timeInterval, .calendar, .at or .region returns');
  }
}

/** The triggers of notifications. */
const Trigger = Object.freeze({
  timeInterval(seconds, { repeats = false } = {}) {
    if (!Number.isFinite(seconds) || seconds <= 0) {
      throw invalid(`Trigger.timeInterval: seconds must be a number greater than 0, not ${String(seconds)}`);
    }
    return { type: 'timeInterval', seconds, repeats };
  },
  calendar(components, { repeats = false } = {}) {
    if (!isObject(components)) throw invalid('Trigger.calendar: components must be an object such as {hour: 9}');
    return { type: 'calendar', components, repeats };
  },
  at(date) {
    if (!(date instanceof Date) || Number.isNaN(date.getTime())) throw invalid('Trigger.at: date must be a valid Date');
    return Trigger.calendar({
      year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate(), hour: date.getHours(),
      minute: date.getMinutes(), second: date.getSeconds(),
    });
  },
  region(region, { repeats = false } = {}) {
    checkMembers(region, REGION, 'Trigger.region: the region');
    const complete = { onEntry: true, onExit: false, ...region };
    checkText(complete.identifier, 'Trigger.region: identifier');
    for (const name of ['latitude', 'longitude', 'radius']) {
      if (complete[name] === undefined) throw invalid(`Trigger.region: ${name} must be a number`);
    }
    return { type: 'region', region: complete, repeats };
  },
});

const NOTIFICATION_MEMBERS = ['identifier', 'apnsID', 'topic', 'date', 'payload', 'content', 'trigger'];

/** A notification that the agent delivered. Its id has 64 bits, and is a text of digits. */
class DeliveredNotification {
  #userInfo;

  constructor(wire) {
    if (!isObject(wire)) throw malformed('a message without its notification');
    this.id = identifierText(wire.id);
    for (const name of NOTIFICATION_MEMBERS) if (wire[name] !== undefined) this[name] = wire[name];
  }

  /** Whether it came from a provider. */
  get isRemote() { return !this.id.startsWith('-'); }

  /** The payload of a push; the `userInfo` of a local notification. */
  get userInfo() {
    this.#userInfo ??= JSON.parse((this.isRemote ? this.payload : this.content?.userInfo) || '{}');
    return this.#userInfo;
  }

  get title() { return this.#text('title'); }
  get subtitle() { return this.#text('subtitle'); }
  get body() { return this.#text('body'); }

  #text(name) {
    if (this.content || !this.isRemote) return this.content?.[name] ?? '';
    const alert = this.userInfo.aps?.alert;
    if (typeof alert === 'string') return name === 'body' ? alert : '';
    return typeof alert?.[name] === 'string' ? alert[name] : '';
  }
}

/** A person's answer to a notification. */
class NotificationResponse {
  constructor({ response, action, notification, userText }) {
    if (typeof action !== 'string') throw malformed('a response without its action');
    this.id = identifierText(response);
    this.action = action;
    this.notification = new DeliveredNotification(notification);
    if (userText !== undefined) this.userText = userText;
  }

  /** Whether the notification itself was opened. */
  get isOpening() { return this.action === Action.open; }

  /** Whether the notification was dismissed. */
  get isDismissal() { return this.action === Action.dismiss; }
}

/** The text of an id of the agent. */
function identifierText(id) {
  if (typeof id === 'bigint' || Number.isSafeInteger(id)) return String(id);
  throw malformed(`an id that is not a whole number: ${String(id)}`);
}

// MARK: Answers of handlers

const RESULTS = ['newData', 'noData', 'failed'];
const isBackground = (kind) => kind === 'background' || kind === 'call';
const presented = (options) => (options === 0 ? { outcome: 'notPresented' } : { outcome: 'presented', options });

/** The outcome that a handler of notifications returned, as the agent reads it. */
function wireOutcome(value, kind) {
  if (isBackground(kind)) return wireResult(value);
  if (value === undefined || value === true) return presented(SHOWN);
  if (value === null || value === false || value.outcome === 'notPresented') return presented(0);
  if (Array.isArray(value) || typeof value === 'number') {
    return presented(bits(value, PresentationOption, 'onNotification'));
  }
  if (value.outcome === 'presented') {
    return presented(bits(value.options ?? SHOWN, PresentationOption, 'onNotification: options'));
  }
  throw invalid(
    `onNotification returned ${describe(value)} for a notification in the foreground; right are nothing, false, an `
    + 'array of options, {outcome: "presented", options} or {outcome: "notPresented"}');
}

function wireResult(value) {
  const result = typeof value === 'string' ? value : value?.outcome === 'background' ? value.result : 'newData';
  if (!RESULTS.includes(result)) {
    throw invalid(`onNotification returned ${describe(value)} for the background; right are ${RESULTS.join(', ')}`);
  }
  return { outcome: 'background', result };
}

/** The promise's result, or an error after so many milliseconds. */
function withLimit(promise, milliseconds, what) {
  let timer;
  const limit = new Promise((_, reject) => {
    const late = new AldabaError('timeout', `${what} took more than ${milliseconds} ms`);
    timer = setTimeout(() => reject(late), milliseconds);
    timer.unref();
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

// MARK: The client

const HANDLERS = [
  'onNotification', 'onResponse', 'onMessage', 'onMessagesDeleted', 'onUpstreamEnded', 'onExtend', 'onExpire',
];
const CLIENT = Object.fromEntries(
  ['app', 'secret', 'socket', 'run', 'role', 'handlerTimeout', ...HANDLERS].map((name) => [name, 'any']));
const LONGEST_TIMER = 2 ** 31 - 1;
const ROLES = ['app', 'serviceExtension'];
const STATES = ['active', 'inactive', 'background'];
const REGISTER = 'registerForRemoteNotifications';
const OBSERVE = { type: 'activity', command: 'observe' };
const UNREGISTER = 'unregisterForRemoteNotifications';
const CONFIRMED = ['handled', 'responseHandled', 'taken'];

function defaultSocket() {
  const { ALDABA_AGENT_SOCKET: named, XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state } = process.env;
  const folder = runtime || state || path.join(homedir(), '.local', 'state');
  return named || path.join(folder, 'aldaba', 'agent.sock');
}

function checkSocket(socket) {
  const length = Buffer.byteLength(checkText(socket, 'socket'));
  if (length <= LONGEST_PATH) return socket;
  throw invalid(`socket: a path of ${length} bytes; at most ${LONGEST_PATH} are allowed: ${socket}`);
}

function connectionError(error, socket) {
  const start = 'start it with `systemctl --user start aldaba-agent`, or with `aldaba agent`';
  switch (error.code) {
    case 'ENOENT': case 'ECONNREFUSED':
      return new AldabaError('noAgent', `no agent listens at ${socket}: ${start}`, { cause: error });
    case 'EACCES': case 'EPERM':
      return new AldabaError(
        'notPermitted', `this user may not connect to ${socket}: ${error.message}`, { cause: error });
    default:
      return new AldabaError('disconnected', `the connection to ${socket} failed: ${error.message}`, { cause: error });
  }
}

/** A client of the agent: one app, or its service extension. */
class NotificationClient extends EventEmitter {
  #hello;
  #role;
  #path;
  #handlers = {};
  #handlerTimeout;
  #isReferenced = true;

  // The connection
  #wish = null; // the promise of `connect`; null while no connection is wanted
  #isEstablished = false; // whether `connect` has succeeded
  #waitsForAgent = false;
  #socket = null;
  #fault = null;
  #welcomedAt = null;
  #pause = FIRST_PAUSE;
  #timer = null;
  #outbox = [];
  #outboxBytes = 0;

  // The state that outlives it
  #lastRequest = 0;
  #requests = new Map();
  #requestBytes = 0;
  #registration = null; // the question for a token, or for the end of one, that each connection repeats
  #registering = null;
  #token = null;
  #state = null;
  #isChannelOpen = false;
  #isChannelConnected = false;
  #running = new Set();
  #answers = new Map();
  #ended = new Map();
  #extending = new Map();
  #waiters = new Map();
  #ownCategory = null;
  #observesActivities = false;
  #activities = new Map(); // what the agent has told of, by their ids
  #startToken = null;

  constructor(options) {
    super({ captureRejections: true });
    checkMembers(options ?? {}, CLIENT, 'NotificationClient');
    this.#greetWith(options ?? {});
    const { socket, handlerTimeout = HANDLER_LIMIT } = options ?? {};
    this.#path = socket === undefined ? null : checkSocket(socket);
    this.#handlerTimeout = handlerTimeout;
    if (!(this.#handlerTimeout > 0 && this.#handlerTimeout <= LONGEST_TIMER)) {
      throw invalid(`handlerTimeout must be a number of milliseconds, greater than 0 and at most ${LONGEST_TIMER}`);
    }
    for (const name of HANDLERS) {
      const handler = options?.[name];
      if (handler !== undefined && typeof handler !== 'function') throw invalid(`${name} must be a function`);
      this.#handlers[name] = handler;
    }
  }

  #greetWith({ app = process.env.ALDABA_APP_ID, secret, run = randomUUID(), role = 'app' }) {
    if (!app) throw invalid('app: the app\'s id is not known: pass `app`, or set ALDABA_APP_ID');
    if (!ROLES.includes(role)) throw invalid(`role must be one of ${ROLES.join(', ')}`);
    this.#hello = { type: 'hello', version: VERSION, app: checkText(app, 'app') };
    if (secret !== undefined && secret !== null) this.#hello.secret = checkText(String(secret).trim(), 'secret');
    if (run !== null) this.#hello.run = checkText(run, 'run');
    if (role !== 'app') this.#hello.role = role;
    this.#role = role;
  }

  /** Whether a connection is open and welcomed. */
  get connected() { return this.#welcomedAt !== null; }

  /** The device token; `null` while there is none. */
  get token() { return this.#token; }

  /** The app's state: `active`, `inactive` or `background`; `null` before the first connection. */
  get state() { return this.#state; }

  /** The ids that the app has handled and the agent has not confirmed, as texts. */
  get unconfirmed() { return [...this.#answers.values()].map(({ id }) => id); }

  // MARK: Connecting

  /** Connects. Later the client connects again by itself. */
  connect({ waitsForAgent = false } = {}) {
    if (this.#wish) return this.#wish.promise;
    try {
      this.#path ??= checkSocket(defaultSocket());
    } catch (error) {
      return Promise.reject(error);
    }
    this.#wish = {};
    this.#wish.promise = new Promise((resolve, reject) => Object.assign(this.#wish, { resolve, reject }));
    this.#waitsForAgent = waitsForAgent;
    this.#isEstablished = false;
    this.#pause = FIRST_PAUSE;
    this.#open();
    return this.#wish.promise;
  }

  /** Ends the connection, and rejects what has no answer. */
  close() {
    const socket = this.#socket;
    this.#giveUp(new AldabaError('closed', 'The client was closed.'));
    if (!socket) return Promise.resolve();
    return new Promise((resolve) => {
      const limit = setTimeout(() => socket.destroy(), CLOSE_LIMIT).unref();
      socket.once('close', () => {
        clearTimeout(limit);
        resolve();
      });
      // The answers of handlers that return at once are still written.
      setImmediate(() => {
        if (socket === this.#socket) this.#detach();
        socket.destroySoon();
        socket.resume();
      });
    });
  }

  /** Lets the process end although the client is connected. */
  unref() {
    this.#isReferenced = false;
    this.#socket?.unref();
    this.#timer?.unref();
    return this;
  }

  /** Reverses `unref`. */
  ref() {
    this.#isReferenced = true;
    this.#socket?.ref();
    this.#timer?.ref();
    return this;
  }

  #open() {
    if (this.#socket) this.#detach();
    const socket = net.connect(this.#path);
    const decoder = new FrameDecoder();
    let fault = null;
    this.#socket = socket;
    this.#fault = null;
    if (!this.#isReferenced) socket.unref();
    this.#later(WELCOME_LIMIT, () => this.#drop(new AldabaError(
      'noAnswer', `the program that listens at ${this.#path} did not answer within ${WELCOME_LIMIT} ms`)));
    socket.on('connect', () => { if (socket === this.#socket) this.#send(encodeFrame(this.#hello)); });
    socket.on('data', (bytes) => this.#received(socket, decoder, bytes));
    socket.on('drain', () => this.#flush());
    socket.on('error', (error) => { fault = connectionError(error, this.#path); });
    socket.on('close', () => this.#disconnected(socket, fault));
  }

  #later(milliseconds, action) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, milliseconds);
    if (!this.#isReferenced) this.#timer.unref();
  }

  #detach() {
    this.#socket = null;
    this.#welcomedAt = null;
    this.#outbox = [];
    this.#outboxBytes = 0;
  }

  /** Ends this connection for ever. */
  #end(error) {
    const socket = this.#socket;
    this.#detach();
    socket?.destroy();
    this.#giveUp(error);
  }

  /** Ends this connection because of a fault; another one follows. */
  #drop(fault) {
    this.#fault = fault;
    this.#socket?.destroy();
  }

  #disconnected(socket, fault) {
    if (socket !== this.#socket) return;
    const wasWelcomed = this.#welcomedAt !== null;
    if (wasWelcomed && performance.now() - this.#welcomedAt >= STABLE_CONNECTION) this.#pause = FIRST_PAUSE;
    const reason = this.#fault ?? fault ?? new AldabaError('disconnected', 'The agent ended the connection.');
    this.#detach();
    this.#failOpenings();
    this.#channelIs(false);
    if (this.#wish === null) return;
    if (!this.#isEstablished && !this.#waitsForAgent) return this.#giveUp(reason);
    this.#later(this.#pause * (0.75 + Math.random() / 4), () => this.#open());
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    if (wasWelcomed) this.#tell('disconnected', reason);
    if (this.#fault) this.#report(this.#fault);
  }

  /** Fails the openings of addresses: repeated, an address might be opened twice. */
  #failOpenings() {
    for (const [number, { isOnce }] of this.#requests) {
      if (isOnce) this.#settle(number, new AldabaError('disconnected', 'The connection ended before the answer.'));
    }
  }

  /** Ends the wish for a connection, and fails what waits for it. */
  #giveUp(error) {
    const wish = this.#wish;
    this.#wish = null;
    clearTimeout(this.#timer);
    for (const number of [...this.#requests.keys()]) this.#settle(number, error);
    for (const identifier of [...this.#waiters.keys()]) this.#endWaiter(identifier, error);
    this.#registration = null;
    this.#registering = null;
    this.#ownCategory = null;
    wish?.reject(error);
    this.#channelIs(false);
    if (wish && this.#isEstablished && error.code !== 'closed') this.#tell('closed', error);
  }

  // MARK: Writing

  #send(frame) {
    if (!this.#socket) return;
    this.#outbox.push(frame);
    this.#outboxBytes += frame.length;
    if (this.#outboxBytes > UNSENT_BYTES_LIMIT) {
      return this.#drop(new AldabaError('agentStalled', `the agent has not read ${this.#outboxBytes} bytes`));
    }
    this.#flush();
  }

  /** Writes while the socket takes it. */
  #flush() {
    while (this.#socket && this.#outbox.length > 0 && !this.#socket.writableNeedDrain) {
      const frame = this.#outbox.shift();
      this.#outboxBytes -= frame.length;
      this.#socket.write(frame);
    }
  }

  #say(message) {
    if (this.connected) this.#send(encodeFrame(message));
  }

  /** Sends what a new connection needs: unconfirmed answers, requests without an answer, and last that it is ready. */
  #repeat() {
    for (const { frame } of this.#answers.values()) this.#send(frame);
    const requests = [...this.#requests.values()];
    // A token that is wanted after one that ends is another one: the end comes first.
    for (const { type, frame } of requests) {
      if (type === UNREGISTER && frame !== this.#registration?.frame) this.#send(frame);
    }
    if (this.#registration) this.#send(this.#registration.frame);
    for (const { type, frame } of requests) if (type !== REGISTER && type !== UNREGISTER) this.#send(frame);
    for (const request of requests) request.times += 1;
    if (this.#observesActivities) this.#say(OBSERVE);
    if (this.#role !== 'app') return;
    this.#say({ type: 'stateChanged', state: this.#state });
    this.#say({ type: 'ready' });
    if (this.#isChannelOpen) this.#say({ type: 'channel', command: 'open' });
  }

  // MARK: Requests

  /** Asks the agent; resolves with the message that answers. */
  #ask(message, { isOnce = false } = {}) {
    return new Promise((resolve, reject) => {
      this.#checkRequest(isOnce);
      const number = this.#lastRequest + 1;
      const frame = encodeFrame({ ...message, request: number });
      if (this.#requestBytes + frame.length > REQUEST_BYTES_LIMIT) {
        throw new AldabaError('tooManyRequests', 'the requests without an answer have more than 16 MiB; await some');
      }
      this.#lastRequest = number;
      const { type, command } = message;
      this.#requests.set(number, { type, command, frame, isOnce, resolve, reject, times: this.connected ? 1 : 0 });
      this.#requestBytes += frame.length;
      if (message.type === REGISTER) this.#registration = { number, frame, isEnd: false };
      if (message.type === UNREGISTER) this.#registration = { number, frame, isEnd: true };
      if (this.connected) this.#send(frame);
    });
  }

  #checkRequest(isOnce) {
    if (this.#wish === null) throw new AldabaError('notConnected', 'the client is not connected: call `connect` first');
    if (isOnce && !this.connected) throw new AldabaError('disconnected', 'There is no connection to the agent.');
    if (this.#requests.size >= REQUEST_LIMIT) {
      throw new AldabaError('tooManyRequests', `${REQUEST_LIMIT} requests have no answer; await some`);
    }
  }

  #settle(number, error, answer) {
    const request = this.#requests.get(number);
    if (!request) return;
    this.#requests.delete(number);
    this.#requestBytes -= request.frame.length;
    if (error) request.reject(error);
    else request.resolve(answer);
  }

  async #center(command, members) {
    const answer = await this.#ask({ type: 'center', command, ...members });
    if (answer.answer === 'failed') throw new AldabaError(answer.code, answer.message);
    return answer;
  }

  /** Asks the person for permission, once. */
  async requestAuthorization(options = ['alert', 'sound', 'badge']) {
    const asked = bits(options, AuthorizationOption, 'requestAuthorization');
    const { granted, reason } = await this.#ask({ type: 'requestAuthorization', options: asked });
    return reason === undefined ? { granted } : { granted, reason };
  }

  /** Returns what the app may do. */
  async settings() {
    const { type: _, request: __, ...settings } = await this.#ask({ type: 'getSettings' });
    return settings;
  }

  /** Returns the device token. */
  async register() {
    const registering = this.#registering ?? this.#ask({ type: REGISTER });
    this.#registering = registering;
    try {
      return (await registering).token;
    } finally {
      if (this.#registering === registering) this.#registering = null;
    }
  }

  /** Ends the device token. */
  async unregister() {
    const registration = this.#registration;
    const ended = this.#ask({ type: UNREGISTER });
    if (this.#registration !== registration) {
      this.#registering = null;
      this.#token = null;
      if (registration) this.#settle(registration.number, new AldabaError('unregistered', 'The token was ended.'));
    }
    await ended;
  }

  /** Shows a notification, at once or when its trigger says. Returns its identifier. */
  async add(notification) {
    const request = wireRequest(notification);
    await this.#center('add', { notification: request });
    return request.identifier;
  }

  /** Returns the requests that have not fired. */
  async pending() { return (await this.#center('pending')).requests; }

  /** Removes requests that have not fired: those of the identifiers, or all. */
  async removePending(identifiers) {
    await this.#center('removePending', checkIdentifiers(identifiers, 'removePending'));
  }

  /** Returns the notifications in the list. */
  async delivered() {
    return (await this.#center('delivered')).notifications.map((wire) => new DeliveredNotification(wire));
  }

  /** Removes notifications from the list: those of the identifiers, or all. */
  async removeDelivered(identifiers) {
    await this.#center('removeDelivered', checkIdentifiers(identifiers, 'removeDelivered'));
    for (const identifier of identifiers ?? [...this.#waiters.keys()]) {
      this.#endWaiter(identifier, new AldabaError('removed', 'The notification was removed before an answer.'));
    }
  }

  /** Adds categories; those of the same identifier are replaced. An empty array removes all. */
  async setCategories(categories) {
    if (!Array.isArray(categories)) throw invalid('setCategories: the categories must be an array');
    const wire = categories.map((category, place) => wireCategory(category, `categories[${place}]`));
    if (wire.length === 0) this.#ownCategory = null;
    await this.#center('setCategories', { categories: wire });
  }

  /** Returns the app's categories. */
  async categories() { return (await this.#center('categories')).categories; }

  /** Sets the number on the app's icon. */
  async setBadge(badge) {
    if (!Number.isSafeInteger(badge) || badge < 0) throw invalid('setBadge: the number must be a whole number from 0');
    await this.#center('setBadge', { badge });
  }

  /** Returns the number on the app's icon. */
  async badge() { return (await this.#center('badge')).badge; }

  /** Has an address opened, or with `isTrial` examined. */
  async openURL(url, { isTrial = false } = {}) {
    const message = { type: 'open', url: String(url), ...(isTrial && { isTrial }) };
    const { outcome, message: text } = await this.#ask(message, { isOnce: true });
    return text === undefined ? { outcome } : { outcome, message: text };
  }

  /** Has the agent fetch a file for this service extension. Returns its path. */
  async fetch(url, options = {}) {
    checkMembers(options, { typeHint: 'text', spread: 'number' }, 'fetch: the options');
    const { typeHint, spread } = options;
    const answer = await this.#ask({ type: 'fetch', url: String(url), typeHint, spread });
    if (answer.path !== undefined) return answer.path;
    throw Object.assign(new AldabaError(answer.reason, answer.message), answer.status && { status: answer.status });
  }

  // MARK: Questions to the person

  /** Shows a notification, and resolves with the person's answer. */
  async notify(notification) {
    if (!isObject(notification)) throw invalid('notify: the notification must be an object');
    const { actions = [], reply, signal, identifier = randomUUID(), ...content } = notification;
    const buttons = [...wireActions(actions, 'notify: actions'), ...replyActions(reply)];
    signal?.throwIfAborted();
    await this.#defineOwnCategory();
    signal?.throwIfAborted(); // It may have been aborted meanwhile, and then tells no listener.
    const answered = this.#wait(identifier, signal);
    answered.catch(() => {}); // It may fail before it is returned.
    try {
      await this.add({ ...content, identifier, actions: buttons, categoryIdentifier: OWN_CATEGORY });
    } catch (error) {
      this.#endWaiter(identifier, error);
    }
    return answered;
  }

  /** Adds the category of `notify`, which has dismissals reported. */
  #defineOwnCategory() {
    const own = { identifier: OWN_CATEGORY, options: CategoryOption.customDismissAction };
    this.#ownCategory ??= this.#center('setCategories', { categories: [own] }).catch((error) => {
      this.#ownCategory = null;
      throw error;
    });
    return this.#ownCategory;
  }

  #wait(identifier, signal) {
    if (this.#waiters.size >= REQUEST_LIMIT) {
      throw new AldabaError('tooManyRequests', `${REQUEST_LIMIT} notifications have no answer; await some`);
    }
    if (this.#waiters.has(identifier)) {
      this.#endWaiter(identifier, new AldabaError('replaced', 'A later notification has the same identifier.'));
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#endWaiter(identifier, signal.reason);
        this.removeDelivered([identifier]).catch((error) => this.#report(error));
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.set(identifier, { resolve, reject, end: () => signal?.removeEventListener('abort', abort) });
    });
  }

  #endWaiter(identifier, error, response) {
    const waiter = this.#waiters.get(identifier);
    if (!waiter) return;
    this.#waiters.delete(identifier);
    waiter.end();
    if (error) waiter.reject(error);
    else waiter.resolve(response);
  }

  // MARK: State and the direct channel

  /** Reports the app's own state to the agent. */
  setState(state) {
    if (!STATES.includes(state)) throw invalid(`setState: the state must be one of ${STATES.join(', ')}`);
    if (state === this.#state) return;
    this.#enter(state);
  }

  /** Lets data messages come. */
  openChannel() {
    this.#isChannelOpen = true;
    this.#say({ type: 'channel', command: 'open' });
  }

  /** Lets no data message come any more. */
  closeChannel() {
    this.#isChannelOpen = false;
    this.#say({ type: 'channel', command: 'close' });
    this.#channelIs(false);
  }

  /** Tells a change of the channel: whether it is open as far as the server. */
  #channelIs(isConnected) {
    if (isConnected === this.#isChannelConnected) return;
    this.#isChannelConnected = isConnected;
    this.#tell('channelState', isConnected);
  }

  /** Sends a message to the app's provider. Returns its id. */
  async send(draft) {
    checkMembers(draft, { id: 'text', to: 'text', data: 'dictionary', timeToLive: 'integer' }, 'send: the message');
    const complete = { timeToLive: LONGEST_TIME_TO_LIVE, data: {}, ...draft, id: draft.id ?? randomUUID() };
    checkText(complete.to, 'send: to');
    await this.#ask({ type: 'channel', command: 'send', draft: complete });
    return complete.id;
  }

  /** Has the app join a topic. */
  async subscribe(topic) { await this.#changeTopic(topic, true); }

  /** Has the app leave a topic. */
  async unsubscribe(topic) { await this.#changeTopic(topic, false); }

  #changeTopic(topic, joins) {
    return this.#ask({ type: 'channel', command: 'topic', topic: checkText(topic, 'the topic'), joins });
  }

  #enter(state) {
    const isNew = state !== this.#state;
    this.#state = state;
    if (this.#role === 'app') this.#say({ type: 'stateChanged', state });
    if (isNew) this.#tell('state', state);
  }

  // MARK: Live Activities

  /** Has the agent tell of the app's Live Activities, on each connection: the events `activity` and `startToken`. */
  observeActivities() {
    if (this.#observesActivities) return;
    this.#observesActivities = true;
    this.#say(OBSERVE);
  }

  /** Starts a Live Activity. Returns its id. */
  async startActivity(draft) {
    checkMembers(draft, ACTIVITY, 'startActivity: the activity');
    const { attributesType, attributes, content, pushes = 'none', id = randomUUID().replaceAll('-', '') } = draft;
    checkText(attributesType, 'startActivity: attributesType');
    if (!isObject(attributes)) throw invalid('startActivity: attributes must be an object');
    if (!/^(none|token|channel:.*)$/s.test(pushes)) {
      throw invalid('startActivity: pushes must be none, token or channel:ID');
    }
    const activity = {
      id, attributesType, attributes: JSON.stringify(attributes), state: 'active',
      content: wireState(content, 'startActivity: content'),
    };
    this.observeActivities();
    await this.#ask({ type: 'activity', command: 'start', activity, pushes });
    return id;
  }

  /** Replaces the content of a Live Activity; with an alert it draws attention. */
  async updateActivity(id, content, { alert } = {}) {
    const message = { id: checkText(id, 'updateActivity: id'), content: wireState(content, 'updateActivity: content') };
    if (alert !== undefined) checkMembers(alert, ALERT, 'updateActivity: alert');
    const sound = alert?.sound === undefined ? undefined : wireSound(alert.sound);
    const told = alert && { alert: { title: '', body: '', ...alert, sound } };
    await this.#ask({ type: 'activity', command: 'update', ...message, ...told });
  }

  /** Ends a Live Activity, with its last content where one is given. */
  async endActivity(id, { content, dismissal = 'standard' } = {}) {
    const moment = DISMISSALS.includes(dismissal) ? dismissal : wireDate(dismissal, 'endActivity: dismissal');
    const message = { id: checkText(id, 'endActivity: id'), dismissal: moment };
    if (content !== undefined) message.content = wireState(content, 'endActivity: content');
    await this.#ask({ type: 'activity', command: 'end', ...message });
  }

  #activityEvent(message) {
    switch (message.event) {
      case 'all': return this.#allActivities(message);
      case 'changed': return this.#activityChanged(message.activity);
      case 'startToken': return this.#startTokenIs(message.startToken);
      case 'accepted': return this.#settle(message.request, null, message);
      case 'refused': return this.#activityRefused(message);
      default: return undefined;
    }
  }

  /** An `end` that was asked for again, and finds no activity, was done the first time. */
  #activityRefused({ request, code, message }) {
    const { command, times } = this.#requests.get(request) ?? {};
    const isDone = command === 'end' && times > 1 && code === 'noActivity';
    this.#settle(request, isDone ? null : new AldabaError(code, message));
  }

  #allActivities({ activities, startToken }) {
    const ids = new Set(activities.map(({ id }) => id));
    const gone = [...this.#activities.values()].filter(({ id }) => !ids.has(id));
    for (const activity of gone) this.#activityChanged({ ...activity, state: 'dismissed' });
    for (const activity of activities) this.#activityChanged(activity);
    if (startToken !== undefined) this.#startTokenIs(startToken);
  }

  #activityChanged(wire) {
    if (isDeepStrictEqual(wire, this.#activities.get(wire.id))) return;
    const content = { ...wire.content, state: JSON.parse(wire.content.state) };
    const activity = { ...wire, attributes: JSON.parse(wire.attributes), content };
    if (wire.state === 'dismissed') this.#activities.delete(wire.id);
    else this.#activities.set(wire.id, wire);
    this.#tell('activity', activity);
  }

  #startTokenIs(token) {
    if (token === this.#startToken) return;
    this.#startToken = token;
    this.#tell('startToken', token);
  }

  // MARK: Reading

  #received(socket, decoder, bytes) {
    if (this.#wish === null || socket !== this.#socket) return;
    try {
      decoder.append(bytes);
      for (let body = decoder.next(); body !== null; body = decoder.next()) {
        const message = decodeBody(body);
        if (message) this.#handle(message);
        if (socket !== this.#socket || socket.destroyed || this.#wish === null) return;
      }
    } catch (error) {
      this.#drop(malformed(`the agent at ${this.#path} sent a message that cannot be read: ${error.message}`, error));
    }
  }

  #handle(message) {
    if (message.type === 'refused') return this.#refused(message);
    if (this.connected) return this.#handleWelcomed(message);
    if (message.type !== 'welcome') throw malformed(`"${message.type}" before it welcomed the app`);
    this.#welcomed(message);
  }

  #refused({ code, message }) {
    this.#end(new AldabaError(String(code), String(message)));
  }

  #welcomed({ version, state, authorization, launchNotification }) {
    if (version !== VERSION) {
      return this.#drop(new AldabaError(
        'version', `the agent at ${this.#path} speaks version ${version} of the protocol, this client ${VERSION}`));
    }
    const welcome = { state, authorization };
    if (launchNotification) welcome.launchNotification = new DeliveredNotification(launchNotification);
    clearTimeout(this.#timer);
    this.#welcomedAt = performance.now();
    this.#isEstablished = true;
    this.#state ??= state;
    this.#repeat();
    this.#wish.resolve(welcome);
    this.#tell('connected', welcome);
  }

  #handleWelcomed(message) {
    switch (message.type) {
      case 'deliver': return this.#deliver(message);
      case 'respond': return this.#respond(message);
      case 'handledConfirmed': return this.#confirm('handled', message.notifications);
      case 'responsesConfirmed': return this.#confirm('responseHandled', message.responses);
      case 'registered': return this.#registered(message);
      case 'registrationFailed':
        return this.#settle(message.request, new AldabaError(message.code, message.message));
      case 'authorizationAnswered': case 'settings': case 'centerAnswered': case 'opened': case 'fetched':
        return this.#settle(message.request, null, message);
      case 'channel': return this.#channelEvent(message);
      case 'activity': return this.#activityEvent(message);
      case 'enter': return STATES.includes(message.state) && this.#enter(message.state);
      case 'openSettings':
        return this.#tell('openSettings', message.notification && new DeliveredNotification(message.notification));
      case 'messagesDeleted': return this.#deleted(message);
      case 'extend': return this.#extend(message);
      case 'expire': return this.#expire(message);
      default: return undefined; // A message of a later version.
    }
  }

  #registered({ request, token }) {
    if (!isText(token)) throw malformed('a registration without its token');
    const { number, isEnd = true } = this.#registration ?? {};
    if (isEnd || (request !== undefined && request !== number)) return;
    const isAnswer = this.#requests.has(number);
    const isNew = token !== this.#token;
    this.#token = token;
    if (isAnswer) this.#settle(number, null, { token });
    else if (isNew) this.#tell('token', token);
  }

  #channelEvent(message) {
    switch (message.event) {
      case 'state': return this.#channelIs(message.isConnected === true && this.#isChannelOpen);
      case 'message': return this.#message(message);
      case 'takenConfirmed': return this.#confirm('taken', message.messages);
      case 'accepted':
        // A refused end of the token is asked for again on later connections, until it is accepted.
        if (this.#registration?.isEnd && this.#registration.number === message.request) this.#registration = null;
        return this.#settle(message.request, null, message);
      case 'refused': return this.#settle(message.request, new AldabaError(message.code, message.message));
      case 'ended': return this.#upstreamEnded(message);
      default: return undefined;
    }
  }

  // MARK: Handlers

  #deliver({ kind, notification: wire }) {
    const notification = new DeliveredNotification(wire);
    this.#handOver({
      name: 'handled', id: notification.id, handler: 'onNotification',
      fallback: isBackground(kind) ? { outcome: 'background', result: 'failed' } : presented(0),
      run: () => this.#outcome(notification, kind),
      answer: (outcome) => ({ type: 'handled', notification: wire.id, ...outcome }),
    });
  }

  /** The outcome of a notification. One that `notify` shows, or that has no handler, is shown. */
  async #outcome(notification, kind) {
    const { onNotification } = this.#handlers;
    const isOwn = !notification.isRemote && this.#waiters.has(notification.identifier);
    if (isOwn || !onNotification) return wireOutcome(isBackground(kind) ? 'noData' : true, kind);
    return wireOutcome(await onNotification(notification, kind), kind);
  }

  #respond(message) {
    const response = new NotificationResponse(message);
    const { identifier } = response.notification;
    const isAwaited = this.#waiters.has(identifier) && !response.notification.isRemote;
    this.#handOver({
      name: 'responseHandled', id: response.id, handler: 'onResponse',
      run: async () => { if (!isAwaited) await this.#handlers.onResponse?.(response); },
      answer: () => ({ type: 'responseHandled', response: message.response }),
      // Only now: whoever gets the answer may close the client at once.
      after: () => { if (isAwaited) this.#endWaiter(identifier, null, response); },
    });
  }

  #message({ notification: wire }) {
    const notification = new DeliveredNotification(wire);
    this.#handOver({
      name: 'taken', id: notification.id, handler: 'onMessage',
      run: async () => { await this.#handlers.onMessage?.(notification); },
      answer: () => ({ type: 'channel', command: 'taken', message: wire.id }),
    });
  }

  #deleted({ deletion, count, since }) {
    this.#handOver({
      name: 'deletionTaken', id: identifierText(deletion), handler: 'onMessagesDeleted',
      run: async () => { await this.#handlers.onMessagesDeleted?.({ count, since }); },
      answer: () => ({ type: 'deletionTaken', deletion }),
    });
  }

  #upstreamEnded({ upstream, id, code }) {
    this.#handOver({
      name: 'endTaken', id: identifierText(upstream), handler: 'onUpstreamEnded',
      run: async () => { await this.#handlers.onUpstreamEnded?.(code === undefined ? { id } : { id, code }); },
      answer: () => ({ type: 'channel', command: 'endTaken', upstream }),
    });
  }

  /** Runs a handler once for an id, and answers the agent: again where the id is known. It never rejects. */
  async #handOver({ name, id, handler, run, answer, fallback, after }) {
    const key = `${name} ${id}`;
    const known = this.#answers.get(key) ?? this.#ended.get(key);
    if (known) return this.connected && this.#send(known.frame);
    if (this.#running.has(key)) return;
    this.#running.add(key);
    let value = fallback;
    try {
      value = await withLimit(run(), this.#handlerTimeout, handler);
    } catch (error) {
      this.#report(error, handler);
    }
    this.#running.delete(key);
    const frame = encodeFrame(answer(value));
    this.#store(key, { name, id, frame });
    if (this.connected) this.#send(frame);
    after?.();
  }

  /** Stores an answer until the agent confirms it; one that is never confirmed, among the last thousand. */
  #store(key, answer) {
    if (!CONFIRMED.includes(answer.name)) {
      this.#ended.set(key, answer);
      if (this.#ended.size > ENDED_LIMIT) this.#ended.delete(this.#ended.keys().next().value);
      return;
    }
    this.#answers.set(key, answer);
    if (this.#answers.size <= UNCONFIRMED_LIMIT || this.#wish === null) return;
    this.#end(new AldabaError('unconfirmed', `the agent has not confirmed ${this.#answers.size} answers`));
  }

  #confirm(name, ids) {
    for (const id of ids) this.#answers.delete(`${name} ${id}`);
  }

  /** Has the service extension change a notification. */
  #extend({ notification: wire }) {
    const notification = new DeliveredNotification(wire);
    if (this.#extending.has(notification.id)) return;
    const abort = new AbortController();
    this.#extending.set(notification.id, abort);
    const change = async () => {
      const changed = await this.#handlers.onExtend?.(notification, { signal: abort.signal });
      const content = changed?.content && { content: wireContent(changed.content, 'onExtend: content') };
      this.#say({ type: 'extended', notification: wire.id, ...content });
    };
    change().catch((error) => {
      const message = String(error?.message ?? error).slice(0, 1000);
      this.#say({ type: 'extensionFailed', notification: wire.id, message });
      this.#report(error, 'onExtend');
    }).finally(() => this.#extending.delete(notification.id));
  }

  #expire({ notification }) {
    const id = identifierText(notification);
    this.#extending.get(id)?.abort(new AldabaError('expired', 'The time for this notification is almost over.'));
    const expire = async () => { await this.#handlers.onExpire?.(id); };
    expire().catch((error) => this.#report(error, 'onExpire'));
  }

  // MARK: Events

  /** Emits an event. An error of a listener is uncaught as usual, after the client's own work. */
  #tell(event, value) {
    try {
      this.emit(event, value);
    } catch (error) {
      process.nextTick(() => { throw error; });
    }
  }

  /** Emits `error`; without a listener it prints the error. */
  #report(error, handler) {
    if (this.listenerCount('error') > 0) return this.#tell('error', error);
    console.error(handler ? `aldaba: ${handler} failed:` : 'aldaba:', error);
  }

  [Symbol.for('nodejs.rejection')](error, event) {
    if (event === 'error') process.nextTick(() => { throw error; });
    else this.#report(error, `the listener of "${String(event)}"`);
  }
}

/** The content of a Live Activity, as the agent has it. */
function wireState(content, where) {
  checkMembers(content, { state: 'any', staleDate: 'any', relevanceScore: 'number' }, where);
  if (content.state === undefined) throw invalid(`${where}: state must be a JSON value`);
  const { state, staleDate, relevanceScore = 0 } = content;
  const wire = { state: JSON.stringify(state), relevanceScore };
  return staleDate === undefined ? wire : { ...wire, staleDate: wireDate(staleDate, `${where}.staleDate`) };
}

/** Milliseconds since 1970 of a date, which may be given as that. */
function wireDate(date, where) {
  const milliseconds = date instanceof Date ? date.getTime() : date;
  if (!Number.isSafeInteger(milliseconds)) throw invalid(`${where} must be a date, or a whole number of milliseconds`);
  return milliseconds;
}

/** The text field of `notify`. */
function replyActions(reply) {
  if (reply === undefined || reply === false) return [];
  const asked = reply === true ? {} : typeof reply === 'string' ? { title: reply } : reply;
  checkMembers(asked, { identifier: 'text', title: 'text', placeholder: 'text', buttonTitle: 'text' }, 'notify: reply');
  const { identifier = 'reply', title = 'Reply', placeholder = '', buttonTitle = 'Send' } = asked;
  return [{ identifier, title, textInput: { buttonTitle, placeholder } }];
}

module.exports = {
  NotificationClient, AldabaError, DeliveredNotification, NotificationResponse, Trigger, Action, AuthorizationOption,
  PresentationOption, ActionOption, CategoryOption, ExactJSON,
};
