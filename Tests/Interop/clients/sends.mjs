// Node's own modules with the requests of its libraries: node-apn's by http2 (`apns`), firebase-admin's by https (`fcm`) and
// by http2 for several messages (`fcm-each`), and web-push's by https (`web-push`).
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import https from "node:https";

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = Math.floor(Date.now() / 1000);

function token(header, claims, key) {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign("sha256", signed, { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

function exchange(session, headers, body) {
  return new Promise((resolve, reject) => {
    const request = session.request({ ":method": "POST", ":scheme": "https", ...headers });
    let status, text = "";
    request.setEncoding("utf8");
    request.on("response", (fields) => { status = fields[":status"]; });
    request.on("data", (chunk) => { text += chunk; });
    request.on("end", () => resolve({ status, text })).on("error", reject);
    request.end(body);
  });
}

function post(url, headers, body) {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method: "POST", headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => { text += chunk; }).on("end", () => resolve({ status: answer.statusCode, text }));
    });
    request.on("error", reject).end(body);
  });
}

async function apns() {
  const bearer = token({ alg: "ES256", kid: "ABC123DEFG" }, { iss: "DEF123GHIJ", iat: now }, readFileSync("AuthKey_ABC123DEFG.p8"));
  const session = http2.connect("https://api.sandbox.push.apple.com", { port: 443 });
  for (const device of ["ab".repeat(32), `${"0".repeat(60)}0410`]) {
    const answer = await exchange(session, {
      ":authority": "api.sandbox.push.apple.com", ":path": `/3/device/${device}`, "apns-topic": "com.example.App",
      "apns-expiration": now + 3600, "apns-priority": 10, "apns-push-type": "alert", authorization: `bearer ${bearer}`,
    }, JSON.stringify({ aps: { alert: { title: "one" }, sound: "ping.aiff" }, messageFrom: "Jo" }));
    console.log(answer.status, answer.text && JSON.parse(answer.text).reason);
  }
  session.close();
}

async function access(account) {
  const claims = {
    iss: account.client_email, iat: now, exp: now + 3600, aud: account.token_uri,
    scope: "https://www.googleapis.com/auth/firebase.messaging",
  };
  const assertion = token({ alg: "RS256", typ: "JWT" }, claims, account.private_key);
  const granted = await post(claims.aud, { "content-type": "application/x-www-form-urlencoded" },
    `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=${assertion}`);
  return JSON.parse(granted.text).access_token;
}

async function fcm(each) {
  const account = JSON.parse(readFileSync("service-account.json"));
  const headers = {
    "X-Firebase-Client": "fire-admin-node/13.0.0", access_token_auth: "true", "Content-Type": "application/json;charset=utf-8",
    Authorization: `Bearer ${await access(account)}`,
  };
  const path = `/v1/projects/${account.project_id}/messages:send`;
  const message = (device) => JSON.stringify({ message: { token: device, notification: { title: "one" } } });
  const devices = ["node-device:APA91bGGG", `${"0".repeat(60)}0410`];
  const session = each && http2.connect("https://fcm.googleapis.com");
  const answers = await Promise.all(devices.map((device) => each
    ? exchange(session, { ...headers, ":path": path }, message(device))
    : post(`https://fcm.googleapis.com${path}`, headers, message(device))));
  console.log(...answers.map((answer) => answer.status));
  if (each) session.close();
}

async function webPush() {
  const key = createPrivateKey(readFileSync("vapid.pem"));
  const { x, y } = createPublicKey(key).export({ format: "jwk" });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]).toString("base64url");
  const claims = { aud: "https://fcm.googleapis.com", exp: now + 43200, sub: "mailto:shop@example.org" };
  const signed = token({ typ: "JWT", alg: "ES256" }, claims, key);
  const answer = await post("https://fcm.googleapis.com/fcm/send/dLnWc0:APA91bIII", {
    TTL: 2419200, "Content-Length": 0, Authorization: `vapid t=${signed}, k=${point}`,
  });
  console.log(answer.status);
}

await { apns, fcm: () => fcm(false), "fcm-each": () => fcm(true), "web-push": webPush }[process.argv[2]]();
