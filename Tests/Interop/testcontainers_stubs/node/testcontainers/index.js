// The classes of the library that the module for Node uses.
import { readFileSync } from "node:fs";

export const Wait = { forLogMessage: (message) => message };

class RunningContainer {
  constructor(ports) {
    this.ports = ports;
  }

  async stop() {}

  getHost() {
    return "localhost";
  }

  getMappedPort(port) {
    const published = Object.fromEntries(process.env.STUB_PORTS.split(",").map((each) => each.split("=")));
    if (!this.ports.includes(port)) throw new Error(`port ${port} is not exposed`);
    return Number(published[port]);
  }

  async exec([program, path]) {
    if (program !== "cat") throw new Error(program);
    return { exitCode: 0, output: readFileSync(process.env.STUB_ROOT + path, "utf8") };
  }
}

export class GenericContainer {
  withExposedPorts(...ports) {
    this.ports = ports;
    return this;
  }

  withWaitStrategy(message) {
    if (message !== '"apnsPort"') throw new Error(message);
    return this;
  }

  async start() {
    return new RunningContainer(this.ports);
  }
}

export class AbstractStartedContainer {
  constructor(startedTestContainer) {
    this.startedTestContainer = startedTestContainer;
  }

  stop() {
    return this.startedTestContainer.stop();
  }

  getHost() {
    return this.startedTestContainer.getHost();
  }

  getMappedPort(port) {
    return this.startedTestContainer.getMappedPort(port);
  }

  exec(command) {
    return this.startedTestContainer.exec(command);
  }
}
