import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer
import SQLiteStore

extension DeviceCommand {
    /// `aldaba device list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the devices that have enrolled.")
        @Option(help: "The number of rows, 1 to 100000.") var limit = 1000
        @Option(help: "Only those after this id.") var after: String?
        @Option(help: "Only those in this state: active, blocked or revoked.") var state: String?
        @Option(help: "Only those with this app: its topic.") var app: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            guard (1...100_000).contains(limit) else {
                throw CommandError(.invalidInput, "--limit takes 1 to 100000")
            }
            var filter = DeviceFilter()
            filter.topic = app.map { Topic(rawValue: $0) }
            if let state {
                guard let known = DeviceFilter.State(rawValue: state) else {
                    throw CommandError(.invalidInput, "--state: \"\(state)\" is none of active, blocked and revoked")
                }
                filter.state = known
            }
            let (wanted, first) = (filter, try self.after.map(DeviceCommand.parseDeviceID))
            let devices = try await ServerRegister.readingStore(location.folder) { store in
                var (found, after, isMore): ([InventoryDevice], DeviceID?, Bool) = ([], first, true)
                while isMore, found.count < limit {
                    let page = try await store.devices(wanted, after: after, limit: limit - found.count)
                    found += page.items
                    (after, isMore) = (page.next, page.next != nil)
                }
                return found.map { Shown($0.device) }
            }
            if json { return try print(JSONLine.of(devices)) }
            for device in devices { print(device.line) }
        }
    }

    /// A device as the list shows it.
    private struct Shown: Encodable {
        var device: String
        var state: String
        var registrations: Int
        var enrolledAt: String
        var seenAt: String?

        init(_ device: EnrolledDevice) {
            self.device = device.device.description
            state = device.revokedAt != nil ? "revoked" : device.blockedAt != nil ? "blocked" : "active"
            registrations = device.registrations
            enrolledAt = device.enrolledAt.description
            seenAt = device.seenAt?.description
        }

        var line: String {
            "\(device)  \(state)  \(registrations) apps  enrolled \(enrolledAt)"
                + (seenAt.map { "  seen \($0)" } ?? "")
        }
    }

    /// `aldaba device block`.
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Block a device.",
            discussion: """
                Its session ends within a second, and it can neither log in nor register. Its registrations stay: what is \
                sent to it is accepted, and waits as long as it may.
                """)
        @Argument(help: "The device's id, a decimal number.") var device: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            try await DeviceCommand.setBlocked(device, isBlocked: true, location: location, json: json)
        }
    }

    /// `aldaba device unblock`.
    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Unblock a device.")
        @Argument(help: "The device's id, a decimal number.") var device: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            try await DeviceCommand.setBlocked(device, isBlocked: false, location: location, json: json)
        }
    }

    /// Reads a device's id.
    static func parseDeviceID(_ text: String) throws -> DeviceID {
        guard let id = UInt64(text).flatMap(DeviceID.init) else {
            throw CommandError(.invalidInput, "\"\(text)\" is no device's id, a decimal number")
        }
        return id
    }

    private static func setBlocked(
        _ device: String, isBlocked: Bool, location: FolderOption, json: Bool
    ) async throws {
        let id = try parseDeviceID(device)
        let word = isBlocked ? "blocked" : "unblocked"
        let change = AuditChange(isBlocked ? .blockDevice : .unblockDevice, id.description)
        try await ServerRegister.changing(
            location.folder, change, after: { AuditedObject(["state": isBlocked ? "blocked" : "active"]) }
        ) { store in
            guard try await store.register.setBlocked(id, isBlocked, at: presentTime()) else {
                throw CommandError(.invalidInput, "the register has no device \(id) that could be \(word)")
            }
        }
        if json {
            try print(JSONLine.of(["device": id.description, "state": word]))
        } else {
            print(Terminal.text("\(word) device \(id)"))
        }
    }
}
