'use strict';
// The app without its windows: it keeps the last pushes, and answers the requests of the page.

const LIMIT = 100;
const CATEGORY = {
  identifier: 'message',
  options: ['customDismissAction'],
  actions: [
    { identifier: 'done', title: 'Done' },
    { identifier: 'reply', title: 'Reply', textInput: { buttonTitle: 'Send', placeholder: 'Your answer' } },
  ],
};

/** The last pushes and their answers. The page is told of each change. */
class Inbox {
  #client;
  #window;
  #items = [];
  #status = 'connecting';

  /**
   * `makeClient` makes the client with the handlers that it is given, and `ipcMain` is Electron's. `window` has
   * `isFocused`, `show` and `tell`, which sends a value to the page.
   */
  constructor({ makeClient, ipcMain, window }) {
    this.#window = window;
    this.#client = makeClient({
      onNotification: (notification) => this.#received(notification),
      onResponse: (response) => this.#answered(response),
    });
    this.#client.on('connected', () => this.#setStatus('connected'));
    this.#client.on('disconnected', () => this.#setStatus('the agent has ended; it is looked for again'));
    this.#client.on('closed', ({ message }) => this.#setStatus(message));
    this.#client.on('token', () => this.#tell());
    ipcMain.handle('inbox:view', () => this.view);
    ipcMain.handle('inbox:register', () => this.#asked(() => this.#register()));
    ipcMain.handle('inbox:ask', () => this.#asked(() => this.#ask()));
    ipcMain.handle('inbox:clear', () => this.#clear());
  }

  /** The data that the page shows: plain, so that they can be sent to the page. */
  get view() { return { status: this.#status, token: this.#client.token, items: this.#items }; }

  /**
   * Connects to the agent, also to one that starts later, and names the actions of pushes of the category "message".
   *
   * The app is active from then on: of an app in the background the agent shows pushes without handing them over.
   */
  async start() {
    try {
      await this.#client.connect({ waitsForAgent: true });
      this.#client.setState('active');
      await this.#client.setCategories([CATEGORY]);
    } catch (error) {
      this.#setStatus(error.message);
    }
  }

  stop() { return this.#client.close(); }

  /** A push in front of the person is seen in the window itself: it goes to the list alone. */
  #received(notification) {
    this.#add(notification);
    return this.#window.isFocused() ? ['list'] : ['banner', 'list', 'sound'];
  }

  #answered({ action, userText, notification, isOpening, isDismissal }) {
    const item = this.#add(notification);
    item.answer = isOpening ? 'opened' : isDismissal ? 'dismissed' : userText ?? action;
    this.#tell();
    if (isOpening) this.#window.show();
  }

  /** Adds a notification, once: an answer may come in a later run of the app than the notification. */
  #add({ id, title, body, date }) {
    const known = this.#items.find((item) => item.id === id);
    if (known) return known;
    const item = { id, title, body, date, answer: null };
    this.#items = [item, ...this.#items].slice(0, LIMIT);
    this.#tell();
    return item;
  }

  /** Asks the person for permission, once, and then for the device token. */
  async #register() {
    const { granted, reason } = await this.#client.requestAuthorization();
    if (!granted) throw new Error(reason ?? 'notifications are not allowed: see `aldaba settings`');
    return { token: await this.#client.register() };
  }

  async #ask() {
    const { action, userText, isDismissal } = await this.#client.notify({
      title: 'Tea?', body: 'Answer here, on the desktop.', actions: { yes: 'Yes', no: 'No' }, reply: 'Another answer',
    });
    return { answer: isDismissal ? 'dismissed' : userText ?? action };
  }

  #clear() {
    this.#items = [];
    this.#tell();
  }

  /** An error goes to the page as its message: Electron would put its own text before it. */
  async #asked(action) {
    try {
      return await action();
    } catch (error) {
      return { error: error.message };
    }
  }

  #setStatus(status) {
    this.#status = status;
    this.#tell();
  }

  #tell() { this.#window.tell(this.view); }
}

module.exports = { Inbox };
