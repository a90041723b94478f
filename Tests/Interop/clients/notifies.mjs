// An app in Node that a test steers: `notifies.mjs PACKAGE APP SOCKET`, with the secret in the variable APP_SECRET.
//
// Each line of standard input is a JSON object: {"number", "call", "arguments"} calls the client, and
// {"release": true} lets a notification's handler return. Each line of standard output is one, too: a result, an error,
// an event, or a call of a handler.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [place, app, socket] = process.argv.slice(2);
const { NotificationClient } = await import(pathToFileURL(place));
const tell = (line) => console.log(JSON.stringify(line));
const seen = ({ id, identifier, title, isRemote, userInfo }) => ({ id, identifier, title, isRemote, userInfo });
const waiting = [];

const client = new NotificationClient({
  app, socket, secret: process.env.APP_SECRET,
  async onNotification(notification, kind) {
    tell({ handler: "notification", kind, ...seen(notification) });
    if (notification.userInfo.waits) await new Promise((resolve) => waiting.push(resolve));
    if (notification.userInfo.fails) throw new Error("it fails on purpose");
    return ["banner", "list"];
  },
  onResponse: ({ action, notification }) => tell({ handler: "response", action, ...seen(notification) }),
});
for (const event of ["connected", "disconnected", "closed", "token"]) {
  client.on(event, (value) => tell({ event, value: event === "token" ? value : value.code }));
}
client.on("activity", ({ id, state, content, pushToken }) => tell(
  { event: "activity", id, state, content: content.state, pushToken }));
client.on("startToken", (value) => tell({ event: "startToken", value }));
client.on("error", ({ message }) => tell({ event: "error", message }));

try {
  await client.connect();
} catch ({ code, message }) {
  tell({ event: "refused", code, message });
  process.exit(1);
}

const steps = {
  unconfirmed: () => client.unconfirmed,
  ask: async (question) => {
    const { action, userText } = await client.notify(question);
    return { action, userText };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { number, call, arguments: given = [], release } = JSON.parse(line);
  if (release) {
    waiting.shift()();
    continue;
  }
  Promise.resolve().then(() => (steps[call] ?? client[call].bind(client))(...given)).then(
    (result) => tell({ number, result: result ?? null }), ({ code, message }) => tell({ number, code, message }));
}
await client.close();
