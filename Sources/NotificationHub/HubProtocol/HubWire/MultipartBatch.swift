import PushCore

/// The body of a direct send in a batch: `multipart/mixed` with the parts `notification` and `devices`, a JSON list of
/// at most 1000 handles (RFC 2046, section 5.1).
package struct MultipartBatch: Hashable, Sendable {
    /// The payload.
    package var notification: [UInt8]
    /// The handles.
    package var devices: [String]

    /// Handles in one request, at most.
    package static let mostDevices = 1000

    /// A fault in a batch.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The fault, and what is expected instead.
        package var description: String
    }

    /// Reads a body.
    ///
    /// - Parameter contentType: The field of that name, which has the boundary; blanks are allowed around its equals
    ///   sign.
    package init(_ body: [UInt8], contentType: String) throws(Fault) {
        guard let boundary = Self.boundary(contentType) else {
            throw Fault(description: "Content-Type: expected multipart/mixed with a boundary of 1 to 70 characters")
        }
        var parts: [String: [UInt8]] = [:]
        for part in Self.parts(body, boundary: Array("--\(boundary)".utf8)) {
            if let (name, content) = Self.part(part) { parts[name] = content }
        }
        guard let notification = parts["notification"] else {
            throw Fault(description: "the part \"notification\" is missing")
        }
        guard let list = parts["devices"] else { throw Fault(description: "the part \"devices\" is missing") }
        let tree: JSONValue
        do { tree = try JSONValue(list) } catch {
            throw Fault(description: "the part \"devices\" is no JSON: \(error)")
        }
        let devices = tree.items?.compactMap(\.text) ?? []
        guard !devices.isEmpty, devices.count == tree.items?.count, devices.count <= Self.mostDevices else {
            throw Fault(description: "\"devices\" is a JSON list of 1 to \(Self.mostDevices) strings")
        }
        self.notification = notification
        self.devices = devices
    }

    private static func boundary(_ contentType: String) -> String? {
        let fields = contentType.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        guard fields.first?.lowercased() == "multipart/mixed" else { return nil }
        for field in fields.dropFirst() {
            guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "boundary" else { continue }
            let value = field[field.index(after: equals)...].filter { $0 != "\"" }
            return (1...70).contains(value.utf8.count) ? value : nil
        }
        return nil
    }

    /// The parts between the boundaries.
    private static func parts(_ body: [UInt8], boundary: [UInt8]) -> [ArraySlice<UInt8>] {
        var places: [Int] = []
        var place = 0
        while place + boundary.count <= body.count {
            if body[place] == boundary[0], body[place..<place + boundary.count].elementsEqual(boundary),
                place == 0 || body[place - 1] == UInt8(ascii: "\n")
            {
                places.append(place)
                place += boundary.count
            } else {
                place += 1
            }
        }
        guard places.count > 1 else { return [] }
        return zip(places, places.dropFirst()).map { body[($0 + boundary.count)..<$1] }
    }

    /// The name and the content of a part.
    private static func part(_ bytes: ArraySlice<UInt8>) -> (String, [UInt8])? {
        var rest = bytes
        var name: String?
        // The first line is what is left of the boundary's.
        _ = line(&rest)
        while let line = line(&rest), !line.isEmpty {
            let text = String(decoding: line, as: UTF8.self)
            guard text.lowercased().hasPrefix("content-disposition:") else { continue }
            for field in text.split(separator: ";") {
                let field = field.filter { $0 != " " && $0 != "\"" }
                if field.lowercased().hasPrefix("name=") { name = String(field.dropFirst(5)).lowercased() }
            }
        }
        // The line's end before a boundary belongs to that.
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        return name.map { ($0, Array(rest)) }
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        var line = rest[..<end]
        rest = rest[(end + 1)...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }
}
