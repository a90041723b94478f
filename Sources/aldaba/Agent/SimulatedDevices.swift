import AldabaConfiguration
import AsyncHTTPClient
import DeviceChannel
import Foundation
import NIOCore
import NIOPosix
import PushCore
import RelayProtocol
import SwiftProtobuf

/// A device that was enrolled for a load test.
struct SimulatedDevice: Sendable {
    var id: DeviceID
    @Secret var secret: UInt64
    var token: String
}

/// Enrols devices over HTTP as an agent does.
struct SimulatedEnrolment: Sendable {
    let addresses: ServerAddresses
    let authority: String?
    let topic: String
    let team: String
    @Secret var enrolmentKey: String?

    /// Enrols that many, a few at a time.
    func enrol(_ count: Int) async throws -> [SimulatedDevice] {
        let client = try ControlClient.make(authority: authority)
        let bar = ProgressBar(ProgressMeter("enrolling", total: Int64(count), unit: .things("devices")))
        defer { bar.end() }
        let result: Result<[SimulatedDevice], any Error>
        do { result = .success(try await enrol(count, with: client, bar)) } catch { result = .failure(error) }
        try? await client.shutdown()
        return try result.get()
    }

    private func enrol(_ count: Int, with client: HTTPClient, _ bar: ProgressBar) async throws -> [SimulatedDevice] {
        try await withThrowingTaskGroup(of: SimulatedDevice.self) { group in
            var devices: [SimulatedDevice] = []
            devices.reserveCapacity(count)
            for started in 0..<count {
                if started >= 32, let device = try await group.next() { devices.append(device) }
                group.addTask {
                    defer { bar.add() }
                    return try await enrolOne(with: client)
                }
            }
            for try await device in group { devices.append(device) }
            return devices
        }
    }

    private func enrolOne(with client: HTTPClient) async throws -> SimulatedDevice {
        var checkin = HTTPClientRequest(url: addresses.control + "/checkin")
        checkin.method = .POST
        checkin.headers.add(name: "content-type", value: "application/x-protobuffer")
        if let enrolmentKey { checkin.headers.add(name: "authorization", value: "Enrol \(enrolmentKey)") }
        checkin.body = .bytes(try MCSCheckinRequest().serializedBytes() as [UInt8])
        let (status, body) = try await ControlClient.exchange(checkin, with: client)
        guard status == 200 else {
            throw CommandError(
                .notAuthorized,
                "the server does not enrol devices (\(status)); set \(ConfigurationKey.enrolmentKey.environmentName)")
        }
        let answer = try MCSCheckinResponse(serializedBytes: Array(body))
        guard let id = DeviceID(answer.androidID) else {
            throw CommandError(.failed, "the server's answer to the enrolment holds no id")
        }
        let token = try await register(id, answer.securityToken, with: client)
        return SimulatedDevice(id: id, secret: answer.securityToken, token: token)
    }

    private func register(_ id: DeviceID, _ secret: UInt64, with client: HTTPClient) async throws -> String {
        var request = HTTPClientRequest(url: addresses.control + "/c2dm/register3")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "authorization", value: "AidLogin \(id):\(secret)")
        request.body = .bytes(
            Array("app=\(topic)&sender=\(team)&device=\(id)&X-environment=\(addresses.environment)".utf8))
        let text = String(decoding: try await ControlClient.exchange(request, with: client).1, as: UTF8.self)
        guard text.hasPrefix("token=") else {
            throw CommandError(
                .invalidInput,
                "the server does not register \(topic) of team \(team): \(text.prefix(80)); `aldaba app list` shows the apps"
            )
        }
        return text.dropFirst(6).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// Connected devices that acknowledge what they get, and connect again when their connection ends.
struct SimulatedDevices: Sendable {
    let addresses: ServerAddresses
    let authority: String?
    /// How many devices each account of relaying has; `nil` where they do not relay.
    var accountSize: Int?

    /// Connects all, calls `ready` when every one has logged in, and holds them until a signal ends the command.
    func run(_ devices: [SimulatedDevice], ready: @Sendable () throws -> Void) async throws {
        let target = MCSClientTarget(
            host: addresses.host, port: addresses.devicePort, trust: authority.map { .certificateFile($0) } ?? .system)
        let client = try MCSClient(target, group: MultiThreadedEventLoopGroup.singleton)
        let all = try devices.enumerated().map { index, device in
            SimulatedConnection(device, client: client, hello: try hello(of: index))
        }
        let bar = ProgressBar(ProgressMeter("connecting", total: Int64(all.count), unit: .things("devices")))
        defer { bar.end() }
        // Sixty-four handshakes at a time: more would wait behind one another until the server gives them up.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, connection) in all.enumerated() {
                if index >= 64 { try await group.next() }
                group.addTask {
                    connection.connect()
                    try await connection.loggedInOnce.value()
                    bar.add()
                }
            }
            try await group.waitForAll()
        }
        bar.end()
        try ready()
        await StopSignals.wait()
        for connection in all { connection.end() }
    }

    /// The hello frame by which a device joins its account: that of an agent without apps.
    private func hello(of index: Int) throws -> [UInt8]? {
        guard let accountSize else { return nil }
        var device = RelayDevice(
            id: "", name: "simulated-\(index)", kind: "desktop",
            apps: [RelayApp(id: "aldaba.relay", name: "Aldaba", services: ["ping"])])
        device.key = [UInt8](repeating: 1, count: 32)
        device.proof = [UInt8](repeating: 2, count: 64)
        let account = UInt64(index / accountSize)
        let token = [UInt8](repeating: 3, count: 24) + withUnsafeBytes(of: account.bigEndian) { Array($0) }
        return try RelayFrame.hello(token: token, device, known: DirectoryRevision()).encoded()
    }
}
