import AldabaConfiguration
import ArgumentParser
import Crypto
import Foundation
import PushCore
import PushServer

/// `aldaba enrolment-key`: the keys by which new devices enrol.
package struct EnrolmentKeyCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "enrolment-key", abstract: "Make, list and revoke keys by which new devices enrol.",
        discussion: """
            They count beside the one that the server is configured with. A device shows its key once, when it enrols;
            what becomes of the key later is nothing to it.
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba enrolment-key create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key and print it. It is shown this once: the register has only its hash.")
        @Argument(help: "The key's id: 1 to 64 letters, digits, - and _.") var id: String
        @Option(help: "The most devices that may enrol with the key; without it any number.") var quota: Int?
        @Option(help: "For how many hours it counts; without it for ever.") var hours: Int?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard EnrolmentKey.hasShape(id: id) else {
                throw CommandError(.invalidInput, "\"\(id)\" is not 1 to 64 letters, digits, - and _")
            }
            guard quota.map({ (1...1_000_000_000).contains($0) }) ?? true else {
                throw CommandError(.invalidInput, "--quota takes 1 to 1000000000")
            }
            guard hours.map({ (1...876_000).contains($0) }) ?? true else {
                throw CommandError(.invalidInput, "--hours takes 1 to 876000")
            }
            let secret = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
            let now = presentTime()
            let key = EnrolmentKey(
                id: id, secretHash: Array(SHA256.hash(data: Array(secret.utf8))), quota: quota,
                expiresAt: hours.map { now.adding(milliseconds: Int64($0) * 3_600_000) }, createdAt: now)
            try await ServerRegister.changing(
                location.begun(), AuditChange(.addEnrolmentKey, id), makesFolder: true,
                after: { AuditedObject(Shown(key, at: now)) }
            ) { try await $0.register.addEnrolmentKey(key) }
            print(json ? try JSONLine.of(["id": id, "key": secret]) : secret)
        }
    }

    /// A key, without its secret.
    private struct Shown: Encodable {
        var id: String
        var state: String
        var used: Int
        var installations: Int
        var quota: Int?
        var expiresAt: String?
        var createdAt: String

        init(_ key: EnrolmentKey, at now: Timestamp) {
            id = key.id
            state = key.verdict(at: now).rawValue
            used = key.used
            installations = key.installations
            quota = key.quota
            expiresAt = key.expiresAt?.description
            createdAt = key.createdAt.description
        }

        var line: String {
            let count = quota.map { "\(used) of \($0) devices" } ?? "\(used) devices"
            return "\(id)  \(state)  \(count)  \(installations) installations"
                + (expiresAt.map { "  until \($0)" } ?? "")
        }
    }

    /// `aldaba enrolment-key list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys with their remaining quotas.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let now = presentTime()
            let keys = try await ServerRegister.reading(location.folder) { try await $0.enrolmentKeys() }
                .map { Shown($0, at: now) }
            if json { return try print(JSONLine.of(keys)) }
            for key in keys { print(key.line) }
        }
    }

    /// `aldaba enrolment-key revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key for good. Devices that have enrolled by it stay.")
        @Argument(help: "The key's id, as `aldaba enrolment-key list` tells it.") var id: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            try await ServerRegister.changing(
                location.folder, AuditChange(.revokeEnrolmentKey, id),
                before: { store in
                    try await store.register.enrolmentKeys().first { $0.id == id }
                        .map { AuditedObject(Shown($0, at: presentTime())) }
                }
            ) { store in
                guard try await store.register.revokeEnrolmentKey(id, at: presentTime()) else {
                    throw CommandError(.invalidInput, "the register has no enrolment key \(id) that could be revoked")
                }
            }
            if json { try print(JSONLine.of(["id": id])) } else { print(Terminal.text("revoked enrolment key \(id)")) }
        }
    }
}
