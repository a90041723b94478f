import Foundation

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

    private let read: (Int) throws -> Data
    private var rest = Data()
    private var isEnd = false
    private var isTooLong = false
    private var line = 0

    /// Reads lines from a source.
    ///
    /// - Parameter read: Gives up to so many of the next bytes; none at the end.
    package init(read: @escaping (Int) throws -> Data) { self.read = read }

    /// The next lines, with their numbers; empty after the last. Empty lines are left out, as are those that are too long, which
    /// come as `nil`.
    package mutating func next(_ count: Int) throws -> [(line: Int, text: Data?)] {
        var found: [(line: Int, text: Data?)] = []
        while found.count < count {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                take(rest[rest.startIndex..<end], &found)
                rest = rest[(end + 1)...]
            } else if isEnd {
                if !rest.isEmpty || isTooLong { take(rest, &found) }
                rest = Data()
                return found
            } else {
                let more = try read(1 << 18)
                isEnd = more.isEmpty
                if rest.count > Self.longest { (rest, isTooLong) = (Data(), true) }
                // What was taken stays in a slice's storage; a copy lets it go.
                rest = Data(rest) + more
            }
        }
        return found
    }

    private mutating func take(_ text: Data, _ found: inout [(line: Int, text: Data?)]) {
        line += 1
        if isTooLong || text.count > Self.longest {
            found.append((line, nil))
        } else if !text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) {
            found.append((line, text))
        }
        isTooLong = false
    }

    /// Reads what stands on lines; any thread may.
    package static func installations(_ lines: [(line: Int, text: Data?)]) -> ([Installation], [Fault]) {
        var read: [Installation] = []
        var faults: [Fault] = []
        for (line, text) in lines {
            guard let text else {
                faults.append(Fault(line: line, message: "the line has more than \(longest) bytes"))
                continue
            }
            do throws(InstallationFault) {
                let tree: JSONTree
                do { tree = try JSONTree(text) } catch { throw InstallationFault("", "this is no JSON: \(error)") }
                read.append(try InstallationJSON.read(tree, id: nil))
            } catch {
                faults.append(Fault(line: line, message: error.path.isEmpty ? error.message : "\(error)"))
            }
        }
        return (read, faults)
    }
}
