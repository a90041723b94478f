// A server for tests in a container: APNs and FCM, which accept any key, service account, app and token.
import { AbstractStartedContainer, GenericContainer, Wait } from "testcontainers";

const SHARED_PORT = 443, APNS_PORT = 2197, HTTP_PORT = 8080;

/** `const aldaba = await new AldabaContainer().start()` starts a container; `await aldaba.stop()` ends it. */
export class AldabaContainer extends GenericContainer {
  constructor(image = "aldaba-tests") {
    super(image);
    this.withExposedPorts(SHARED_PORT, APNS_PORT, HTTP_PORT);
    // The line of the addresses, after which everything listens.
    this.withWaitStrategy(Wait.forLogMessage("\"apnsPort\""));
  }

  async start() {
    const started = new StartedAldabaContainer(await super.start());
    const certificate = await started.exec(["cat", "/trust/ca.pem"]);
    if (certificate.exitCode !== 0) {
      await started.stop();
      throw new Error(`the container has no certificate: ${certificate.output}`);
    }
    started.ca = certificate.output;
    return started;
  }
}

/** A server that runs. `ca` is the certificate that the program under test must trust, PEM. */
export class StartedAldabaContainer extends AbstractStartedContainer {
  /** The address of the test API. */
  get http() {
    return `http://${this.#address(HTTP_PORT)}`;
  }

  /** The address of APNs. */
  get apns() {
    return `https://${this.#address(APNS_PORT)}`;
  }

  /** The address of FCM; access tokens are at `/token` of it. */
  get fcm() {
    return `https://${this.#address(SHARED_PORT)}`;
  }

  /** The requests that came, the newest first; `{ count: 2, timeout: 10 }` waits until two have come, or ten seconds. */
  async received(query = {}) {
    return (await this.#ask("GET", `/v1/received?${new URLSearchParams(query)}`)).received;
  }

  /** Provokes an error: `fault({ status: 429, token: "740f…", times: 2 })`. The answer has its `id`. */
  fault(members) {
    return this.#ask("POST", "/v1/faults", members);
  }

  /** Forgets requests and faults; `namespace` names whose. */
  reset(query = {}) {
    return this.#ask("POST", `/v1/reset?${new URLSearchParams(query)}`);
  }

  #address(port) {
    return `${this.getHost()}:${this.getMappedPort(port)}`;
  }

  async #ask(method, path, body) {
    const answer = await fetch(this.http + path, {
      method, body: body && JSON.stringify(body), headers: { "content-type": "application/json" },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }
}
