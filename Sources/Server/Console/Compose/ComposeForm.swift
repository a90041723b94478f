import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The fields of the form, and the file that came with them.
struct ComposeForm: Hashable, Sendable {
    /// A file that was chosen in the form.
    struct File: Hashable, Sendable {
        var name: String
        var bytes: [UInt8]
    }

    /// The most bytes of the fields together.
    static let mostBytes = 65_536
    /// The most bytes of a file.
    static let mostFileBytes = 10 << 20
    /// The most languages beside the texts without one.
    static let mostLanguages = 40

    private(set) var values: [String: String] = [:]
    /// The languages with texts of their own.
    var languages: [String] = []
    var file: File?

    init() {}

    /// The value of a field; empty where there is none.
    subscript(name: String) -> String {
        get { values[name] ?? "" }
        set { values[name] = newValue.isEmpty ? nil : newValue }
    }

    /// The value of a field of one line, without blanks around it.
    func line(_ name: String) -> String {
        var text = self[name][...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// Reads the body of a request of the type `multipart/form-data` (RFC 7578).
    static func read(_ request: Request) async throws -> ComposeForm {
        guard let boundary = MultipartForm.boundary(of: request.headers[.contentType] ?? "") else {
            throw ConsoleRefusal.type.error
        }
        let body: [UInt8]
        do { body = Array(buffer: try await request.bodyAsSent(upTo: mostBytes + mostFileBytes)) } catch let error
            as any HTTPResponseError where error.status == .contentTooLarge
        {
            throw ConsoleRefusal.size.error
        }
        return try ComposeForm(MultipartForm.parts(of: body, boundary: boundary))
    }

    /// Takes the parts of a body.
    init(_ parts: [MultipartForm.Part]) throws {
        guard parts.reduce(0, { $0 + ($1.fileName == nil ? $1.bytes.count : 0) }) <= Self.mostBytes else {
            throw ConsoleRefusal.size.error
        }
        for part in parts {
            if let name = part.fileName {
                if !part.bytes.isEmpty { file = File(name: name, bytes: Array(part.bytes)) }
                continue
            }
            let text = String(decoding: part.bytes, as: UTF8.self).replacing("\r\n", with: "\n")
            if part.name == "language" {
                if !languages.contains(text), Self.isLanguage(text) { languages.append(text) }
            } else {
                self[part.name] = text
            }
        }
        let added = line("newLanguage")
        if !added.isEmpty, !languages.contains(added), Self.isLanguage(added) {
            languages.append(added)
            self["newLanguage"] = ""
        }
        let removed = line("removeLanguage")
        languages.removeAll { $0 == removed }
        guard languages.count <= Self.mostLanguages else {
            throw ControlError.invalid("the form has \(languages.count) languages; \(Self.mostLanguages) are taken")
        }
    }

    /// Whether a text is a language such as `de` or `pt-BR`, which may also stand in the name of a field.
    static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        return (2...8).contains(parts.first?.utf8.count ?? 0) && text.utf8.count <= 35
            && parts.allSatisfy {
                (1...8).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
            && parts.first?.allSatisfy(\.isLetter) == true
    }
}

/// Reads bodies of the type `multipart/form-data` (RFC 7578).
enum MultipartForm {
    /// A field or a file.
    struct Part: Hashable {
        var name: String
        /// The name of a file; `nil` for a field.
        var fileName: String?
        var bytes: ArraySlice<UInt8>
    }

    private static let mostParts = 512

    /// The boundary of a content type; `nil` for another type.
    static func boundary(of type: String) -> String? {
        guard type.lowercased().hasPrefix("multipart/form-data"), let start = type.firstRange(of: "boundary=") else {
            return nil
        }
        let rest = type[start.upperBound...]
        let text = rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != ";" }
        return (1...70).contains(text.utf8.count) ? String(text) : nil
    }

    /// The parts of a body.
    static func parts(of body: [UInt8], boundary: String) throws(ControlError) -> [Part] {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var rest = body[...]
        guard rest.starts(with: delimiter.dropFirst(2)) else { throw broken }
        rest = rest.dropFirst(delimiter.count - 2)
        var parts: [Part] = []
        while rest.starts(with: "\r\n".utf8) {
            guard let end = rest.firstRange(of: delimiter), parts.count < mostParts else { throw broken }
            parts.append(try part(rest[rest.startIndex..<end.lowerBound].dropFirst(2)))
            rest = rest[end.upperBound...]
        }
        guard rest.starts(with: "--".utf8) else { throw broken }
        return parts
    }

    private static let broken = ControlError.invalid("the form cannot be read: it is malformed, or it ends early")

    private static func part(_ bytes: ArraySlice<UInt8>) throws(ControlError) -> Part {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw broken }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        guard let name = parameter("name", of: head) else { throw broken }
        return Part(name: name, fileName: parameter("filename", of: head), bytes: bytes[end.upperBound...])
    }

    private static func parameter(_ name: String, of head: String) -> String? {
        guard let start = head.firstRange(of: " \(name)=\"") else { return nil }
        return String(head[start.upperBound...].prefix { $0 != "\"" }).replacing("%22", with: "\"")
    }
}
