import AgentEngine
import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

/// `aldaba device`: the server's devices.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "List, block and revoke devices, ask for their keys, and simulate some.",
        subcommands: [List.self, Block.self, Unblock.self, Revoke.self, EncryptionKey.self, Simulate.self])

    /// `aldaba device revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a device for good.",
            discussion: """
                Its session ends within a second, it cannot log in again, pushes to its device tokens are refused
                with 410 Unregistered from the next request on, and what waits for it is dropped.
                """)
        @Argument(help: "The device's id, a decimal number, as `aldaba agent status` tells it.") var device: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard let id = UInt64(device).flatMap(DeviceID.init) else {
                throw CommandError(.invalidInput, "\"\(device)\" is no device's id, a decimal number")
            }
            try await ServerRegister.changing(location.folder, AuditChange(.revokeDevice, id.description)) { store in
                guard try await store.register.revokeDevice(id, at: presentTime()) else {
                    throw CommandError(.invalidInput, "the register has no device \(id) that could be revoked")
                }
            }
            if json {
                try print(JSONLine.of(["device": id.description]))
            } else {
                print(Terminal.text("revoked device \(id)"))
            }
        }
    }

    /// `aldaba device encryption-key`.
    struct EncryptionKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encryption-key",
            abstract: "Print the public key to which a sender encrypts for a device token, as JSON.",
            discussion: "Its member keys is that of a Web Push subscription. `aldaba send --encryption-key` takes it.")
        @Argument(help: "The device token, 64 hexadecimal digits.") var token: String
        @Option(help: "The authority of the server's certificate, PEM; without it the data folder's.") var ca: String?
        @OptionGroup var location: FolderOption
        @OptionGroup var signing: SigningOptions

        func run() async throws {
            let answer = try await EncryptionKeyClient.fetch(token, authority: ca, location: location, signing: signing)
            _ = try PublishedKey.read(answer, from: "the server's answer")
            print(String(decoding: answer, as: UTF8.self))
        }
    }

    /// `aldaba device simulate`.
    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enrol devices for load tests and write their device tokens, one a line.",
            discussion: "Connected devices acknowledge what they get, until the command is ended; then so do they.")
        @Argument(help: "The number of devices, 1 to 100000.") var count: Int
        @Flag(help: "Only enrol; do not connect.") var offline = false
        @Option(help: "The file that gets the tokens when all devices are ready.") var tokens: String
        @Option(
            name: .customLong("relay"), help: "Have them join accounts of relaying, of so many devices each (1 to 64).")
        var accountSize: Int?
        @Option(help: "The app's topic.") var topic = DemoApp.topic.rawValue
        @Option(help: "The app's team.") var team = DemoApp.team.rawValue
        @Option(help: "The port of the device channel, with --server.") var devicePort = 5228
        @Option(help: "The environment of the device tokens, with --server: sandbox or production.")
        var environment = "production"
        @OptionGroup var server: ServerOption

        func run() async throws {
            guard (1...100_000).contains(count) else {
                throw CommandError(.invalidInput, "\(count) devices cannot be made; 1 to 100000 can")
            }
            guard (1...64).contains(accountSize ?? 1) else {
                throw CommandError(.invalidInput, "--relay takes 1 to 64")
            }
            guard Topic.hasShape(topic), TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--topic takes a bundle id, --team ten characters A-Z0-9")
            }
            guard PushEnvironment(rawValue: environment) != nil, (1...65_535).contains(devicePort) else {
                throw CommandError(
                    .invalidInput, "--environment takes sandbox or production, --device-port takes 1 to 65535")
            }
            let addresses =
                try server.named().map {
                    ServerAddresses(
                        process: 0, host: $0.host, apnsPort: 0, devicePort: devicePort, controlPort: $0.port,
                        httpPort: nil, metricsPort: 0, environment: environment)
                } ?? server.location.addresses()
            let enrolment = SimulatedEnrolment(
                addresses: addresses, authority: server.authority, topic: topic, team: team,
                enrolmentKey: ProcessInfo.processInfo.environment[ConfigurationKey.enrolmentKey.environmentName])
            let devices = try await enrolment.enrol(count)
            let lines = Array(devices.map { $0.token + "\n" }.joined().utf8)
            if offline { return try PrivateFile.write(lines, to: tokens) }
            let simulated = SimulatedDevices(
                addresses: addresses, authority: server.authority, accountSize: accountSize)
            try await simulated.run(devices) { try PrivateFile.write(lines, to: tokens) }
        }
    }
}
