// A program that uses the module for Node.
import { AldabaContainer } from "./aldaba-container.mjs";

const aldaba = await new AldabaContainer().start();
await aldaba.fault({ interface: "apns", status: 429, reason: "TooManyRequests" });
console.log(JSON.stringify({ http: aldaba.http, apns: aldaba.apns, fcm: aldaba.fcm, ca: aldaba.ca }));
await aldaba.received({ status: 200, count: 1, timeout: 20 });
const received = await aldaba.received({ interface: "apns" });
console.log(JSON.stringify(received.map((each) => each.answer.status)));
await aldaba.reset();
console.log((await aldaba.received()).length);
await aldaba.stop();
