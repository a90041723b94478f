import Foundation
import HubWire
import PushModel

/// An installation that was read from a document.
package struct ReadInstallation: Hashable, Sendable {
    /// The installation.
    package var installation: Installation
    /// The document as it is kept: as it was written, where it has nothing but members that are known.
    package var document: String

    /// An installation with a document made of it.
    package init(_ installation: Installation) {
        self.installation = installation
        document = InstallationJSON.document(installation).json
    }

    /// Reads a document.
    ///
    /// - Throws: what was wrong with it, and what would be right.
    init(_ text: [UInt8]) throws(InstallationFault) {
        let tree: JSONTree
        do { tree = try JSONTree(text) } catch { throw InstallationFault("", "this is no JSON: \(error)") }
        installation = try InstallationJSON.read(tree, id: nil)
        let isPlain = tree.members?.allSatisfy { InstallationJSON.members.contains($0.name) } ?? false
        document =
            isPlain ? String(decoding: text, as: UTF8.self) : InstallationJSON.document(installation).json
    }
}

/// Installations as JSON Lines: a document of Azure's kind on each line, with `installationId`.
package struct InstallationLines {
    /// A line that is no installation.
    package struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// Its number, from 1.
        package var line: Int
        /// What was wrong, and what would be right.
        package var message: String
        package var description: String { "line \(line): \(message)" }
    }

    /// The longest line that is taken: 1 MiB.
    package static let longest = 1 << 20

    /// How many are put in one transaction.
    package static let slice = 20_000

    private let read: (Int) throws -> Data
    private var rest: [UInt8] = []
    private var start = 0
    private var isEnd = false
    private var isTooLong = false
    private var line = 0

    /// Reads lines from a source.
    ///
    /// - Parameter read: Gives up to so many of the next bytes; none at the end.
    package init(read: @escaping (Int) throws -> Data) { self.read = read }

    /// The next lines, with their numbers; empty after the last. Empty lines are left out, as are those that are too long, which
    /// come as `nil`.
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
        // Editors put the mark of UTF-8 before the first line.
        let text = line == 1 && text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        if isTooLong || text.count > Self.longest {
            found.append((line, nil))
        } else if !text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) {
            found.append((line, Array(text)))
        }
        isTooLong = false
    }

    /// Reads what stands on lines, without those whose time is over; any thread may.
    ///
    /// - Parameter check: Looks at each installation, as is done where it is put by a request.
    package static func installations(
        _ lines: [(line: Int, text: [UInt8]?)], at now: Timestamp,
        check: (Installation) throws(InstallationFault) -> Void = { _ in }
    ) -> ([ReadInstallation], [Fault]) {
        var read: [ReadInstallation] = []
        read.reserveCapacity(lines.count)
        var faults: [Fault] = []
        for (line, text) in lines {
            guard let text else {
                faults.append(Fault(line: line, message: "the line has more than \(longest) bytes"))
                continue
            }
            do throws(InstallationFault) {
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
