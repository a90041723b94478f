import PushCore
import Testing

@testable import AldabaConfiguration

private func read(
    _ arguments: [String] = [], environment: [String: String] = [:], file: String? = nil,
    program: ConfiguredProgram = .serve
) throws(ConfigurationFaults) -> ConfigurationValues {
    try ConfigurationReader(
        program: program, arguments: arguments, environment: environment,
        file: file.map { (path: "aldaba.yaml", text: $0) }
    ).read()
}

private func faults(_ body: () throws(ConfigurationFaults) -> ConfigurationValues) -> [String] {
    do throws(ConfigurationFaults) {
        _ = try body()
        return []
    } catch {
        return error.faults.map(\.description)
    }
}

@Test func `without anything given every key has its default`() throws {
    let values = try read()
    #expect(values.number(.apnsPort) == 2197)
    #expect(values.number(.devicePort) == 5228)
    #expect(values.flag(.development) == false)
    #expect(values.text(.enrolmentKey) == nil)
    #expect(values.origin(.apnsPort) == .builtIn)
}

@Test func `flags go over the environment and the environment over the file`() throws {
    let values = try read(
        ["--apns-port", "1", "--development"],
        environment: ["ALDABA_APNS_PORT": "2", "ALDABA_DEVICE_PORT": "3"],
        file: "apns-port: 4\ndevice-port: 5\ncontrol-port: 6\n")
    #expect(values.number(.apnsPort) == 1)
    #expect(values.number(.devicePort) == 3)
    #expect(values.number(.controlPort) == 6)
    #expect(values.flag(.development))
    #expect(values.origin(.controlPort) == .file("aldaba.yaml", line: 3))
}

@Test(arguments: [
    (["--development"], true), (["--development=true"], true), (["--development=no"], false),
    (["--development", "--no-development"], false),
])
func `a flag is set and unset in these ways`(arguments: [String], expected: Bool) throws {
    #expect(try read(arguments).flag(.development) == expected)
}

@Test func `all faults are reported together, each with its origin and what would be right`() {
    let found = faults { () throws(ConfigurationFaults) in
        try read(
            ["stray", "--apns-port=70000", "--nonsense", "perhaps a secret"], environment: ["ALDABA_LOG_LEVEL": "loud"],
            file: "host: [1]\napns-prot: 2\n")
    }
    #expect(
        found == [
            "aldaba.yaml:1: host is a list or a mapping; it takes an IP address, such as 127.0.0.1, ::1 or 0.0.0.0",
            "aldaba.yaml:2: there is no key \"apns-prot\"; did you mean apns-port?",
            "ALDABA_LOG_LEVEL: log-level is \"loud\"; "
                + "it takes trace, debug, info, notice, warning, error, critical",
            "\"stray\": this word has no place here; flags are written --name value",
            "--apns-port: apns-port is \"70000\"; it takes port, 0 to 65535 (0: a free one)",
            "--nonsense: serve has no such flag; "
                + "all keys are listed by `aldaba serve --help` and `aldaba agent run --help`",
        ])
}

@Test(arguments: ["just text", "- a\n- b\n", "a: [unclosed\n", "\t"])
func `a file that is no list of keys is one fault`(text: String) {
    #expect(faults { () throws(ConfigurationFaults) in try read(file: text) }.count == 1)
}

@Test(arguments: ["nope", "localhost", "127.0.0", "[::1]", "1.2.3.4:5"])
func `a host that is no IP address is reported with the other faults`(host: String) {
    let found = faults { () throws(ConfigurationFaults) in try read(["--host=\(host)", "--apns-port=x"]) }
    #expect(found.count == 2)
    #expect(found[0] == "--host: host is \"\(host)\"; it takes an IP address, such as 127.0.0.1, ::1 or 0.0.0.0")
}

@Test func `a variable that looks like a setting and is none is named`() throws {
    let names = ["ALDABA_APNS_PROT": "1", "ALDABA_MY_OWN": "1", "ALDABA_APP_ID": "x", "ALDABA_APNS_PORT": "5"]
    #expect(
        try read(environment: names).warnings == [
            "ALDABA_APNS_PROT is no setting; did you mean ALDABA_APNS_PORT?",
            "ALDABA_MY_OWN is no setting, and nothing reads it",
        ])
    #expect(try read(environment: names.merging(["ALDABA_SUPERVISED": "1"]) { $1 }).warnings.isEmpty)
}

@Test func `an empty file is no fault`() throws {
    #expect(try read(file: "").number(.apnsPort) == 2197)
    #expect(try read(file: "# nothing yet\n").number(.apnsPort) == 2197)
}

@Test func `a secret's value is not shown in a fault`() {
    let found = faults { () throws(ConfigurationFaults) in try read(environment: ["ALDABA_ENROLMENT_KEY": ""]) }
    #expect(found == ["ALDABA_ENROLMENT_KEY: enrolment-key has a value that it cannot take; it takes text"])
}

@Test func `a key of another program is no flag of this one`() {
    #expect(faults { () throws(ConfigurationFaults) in try read(["--presenter=auto"]) }.count == 1)
    #expect(faults { () throws(ConfigurationFaults) in try read(["--presenter=auto"], program: .agent) }.isEmpty)
}

@Test func `values passed on to a child leave secrets and defaults out`() throws {
    let values = try read(["--apns-port=5", "--log-level=debug", "--enrolment-key=abc"])
    #expect(values.flags(for: .serve, except: [.apnsPort]) == ["--log-level=debug"])
}

@Test(arguments: ["http://host:8443", "host:8443", "https://", "https://host/?a=b", ""])
func `the control API is spoken to over TLS only`(address: String) {
    let found = faults { () throws(ConfigurationFaults) in
        try read(["--agent-control=\(address)"], program: .agent)
    }
    #expect(
        found == ["--agent-control: agent-control is \"\(address)\"; it takes an address https://host:port"])
}

@Test func `up takes the keys of its server and those of its agent that it does not settle itself`() throws {
    let values = try read(
        ["--presenter=headless", "--reconnect-after=50"], file: "apns-port: 7\nagent-server: host:1\n", program: .up)
    #expect(values.flags(for: .agent, except: [.agentServer]) == ["--presenter=headless", "--reconnect-after=50"])
    #expect(values.flags(for: .serve, except: []) == ["--apns-port=7"])
    #expect(faults { () throws(ConfigurationFaults) in try read(["--agent-server=host:1"], program: .up) }.count == 1)
}

@Test func `development on a public address is a fault`() throws {
    let values = try read(["--development", "--host=0.0.0.0"])
    #expect(throws: ConfigurationFaults.self) { try ServerConfiguration(values, environment: [:]) }
}

@Test func `the server's names are those that are set, else the certificate's, and this machine's own`() throws {
    func names(_ arguments: [String]) throws -> ServerNames {
        try ServerConfiguration(try read(arguments), environment: [:]).names(
            ofCertificate: ["cert.example"], ports: [8443, 8080])
    }
    let made = try names([])
    #expect(["cert.example", "localhost", "127.0.0.1", "::1"].allSatisfy { made.include(host: $0) })
    #expect(made.include(origin: "https://cert.example:8443") && made.include(origin: "http://127.0.0.1:8080"))
    let set = try names(["--server-names=push.example, hub.example:9443", "--media-url=https://files.example:7"])
    #expect(set.include(origin: "https://push.example") && set.include(origin: "https://hub.example:9443"))
    #expect(set.include(origin: "https://files.example:7") && set.include(host: "localhost"))
    #expect(!set.include(host: "cert.example") && !set.include(origin: "https://files.example"))
}

@Test(arguments: ["", "push.example,", "https://push.example", "push.example/hub", "push.example:0"])
func `what is no name of a server is a fault`(text: String) {
    let found = faults { () throws(ConfigurationFaults) in try read(["--server-names=\(text)"]) }
    #expect(
        found == ["--server-names: server-names is \"\(text)\"; it takes hosts, or host:port, separated by commas"])
}

@Test func `two listeners on one port are a fault, but two free ports are none`() throws {
    let same = try read(["--apns-port=8443"])
    #expect(throws: ConfigurationFaults.self) { try ServerConfiguration(same, environment: [:]) }
    let free = try read(["--apns-port=0", "--device-port=0"])
    #expect(throws: Never.self) { try ServerConfiguration(free, environment: [:]) }
}
