import Foundation
import HubProtocol
import PushCore

/// An installation that was parsed from a document.
package struct ReadInstallation: Hashable, Sendable {
    /// The installation.
    package var installation: Installation
    /// The document to be stored: as it was written, if it contains only known members.
    package var document: String

    /// Creates the installation with a document made from it.
    package init(_ installation: Installation) {
        self.installation = installation
        document = InstallationJSON.document(installation).json
    }

    /// Parses a document.
    ///
    /// - Throws: A fault with the wrong member and the values that are right.
    init(_ text: [UInt8]) throws(InstallationError) {
        let tree: JSONValue
        do { tree = try JSONValue(text) } catch { throw InstallationError("", "this is no JSON: \(error)") }
        installation = try InstallationJSON.read(tree, id: nil)
        let isPlain = tree.members?.allSatisfy { InstallationJSON.members.contains($0.name) } ?? false
        document =
            isPlain ? String(decoding: text, as: UTF8.self) : InstallationJSON.document(installation).json
    }
}

/// Installations as JSON Lines: a document of Azure's kind on each line, with `installationId`.
package struct InstallationLines {
    /// The fault of a line that is no installation.
    package struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// The line's number, from 1.
        package var line: Int
        /// The description of the fault and of the values that are right.
        package var message: String
        package var description: String { "line \(line): \(message)" }
    }

    /// The maximum length of a line: 1 MiB.
    package static let longest = 1 << 20

    /// The number of installations stored in one transaction.
    package static let slice = 20_000

    private let read: (Int) throws -> Data
    private var rest: [UInt8] = []
    private var start = 0
    private var isEnd = false
    private var isTooLong = false
    private var line = 0

    /// Reads lines from a source.
    ///
    /// - Parameter read: Returns at most the given number of next bytes; none at the end.
    package init(read: @escaping (Int) throws -> Data) { self.read = read }

    /// The next lines, with their numbers; empty after the last. Empty lines are left out; lines that are too long are
    /// `nil`.
    package mutating func next(_ count: Int) throws -> [(line: Int, text: [UInt8]?)] {
        var found: [(line: Int, text: [UInt8]?)] = []
        while found.count < count {
            if let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                take(rest[start..<end], &found)
                start = end + 1
            } else if isEnd {
                if start < rest.count || isTooLong { take(rest[start...], &found) }
                (rest, start) = ([], 0)
                return found
            } else {
                let more = try read(1 << 18)
                isEnd = more.isEmpty
                if rest.count - start > Self.longest { (rest, start, isTooLong) = ([], 0, true) }
                rest.removeFirst(start)
                start = 0
                rest += more
            }
        }
        return found
    }

    private mutating func take(_ text: ArraySlice<UInt8>, _ found: inout [(line: Int, text: [UInt8]?)]) {
        line += 1
        // Editors put a byte order mark of UTF-8 before the first line.
        let text = line == 1 && text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        if isTooLong || text.count > Self.longest {
            found.append((line, nil))
        } else if !text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) {
            found.append((line, Array(text)))
        }
        isTooLong = false
    }

    /// Parses lines, without expired installations; may be called on any thread.
    ///
    /// - Parameter check: Checks each installation as for a put request.
    package static func installations(
        _ lines: [(line: Int, text: [UInt8]?)], at now: Timestamp,
        check: (Installation) throws(InstallationError) -> Void = { _ in }
    ) -> ([ReadInstallation], [Fault]) {
        var read: [ReadInstallation] = []
        read.reserveCapacity(lines.count)
        var faults: [Fault] = []
        for (line, text) in lines {
            guard let text else {
                faults.append(Fault(line: line, message: "the line has more than \(longest) bytes"))
                continue
            }
            do throws(InstallationError) {
                let one = try ReadInstallation(text)
                try one.installation.checkTime(at: now)
                try check(one.installation)
                read.append(one)
            } catch {
                faults.append(Fault(line: line, message: error.path.isEmpty ? error.message : "\(error)"))
            }
        }
        return (read, faults)
    }
}
