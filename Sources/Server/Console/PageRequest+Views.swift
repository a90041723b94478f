import Foundation
import PushCore

extension PageRequest {
    /// The name of the reader's time zone, at present.
    var zoneName: String { zone.secondsFromGMT() == 0 ? "UTC" : zone.identifier }

    /// An instant of the API as templates show it; `nil` for text that is none.
    func time(_ text: String?) -> [String: Any]? {
        guard let text, let instant = Timestamp(text: text) else { return nil }
        return ["iso": text, "text": local(instant)]
    }

    /// The instant of a time in the reader's zone, as the API reads it. A text that is no such time stays as it is.
    func instant(ofLocal text: String) -> String {
        guard !text.hasSuffix("Z") else { return text }
        guard let instant = Timestamp(text: text.count == 16 ? text + ":00Z" : text + "Z") else { return text }
        let date = Date(timeIntervalSince1970: Double(instant.rawValue / 1000))
        return instant.adding(milliseconds: Int64(-1000 * zone.secondsFromGMT(for: date))).description
    }

    /// An instant in the reader's zone, to the second.
    func local(_ instant: Timestamp) -> String {
        let seconds = instant.rawValue / 1000
        let date = Date(timeIntervalSince1970: Double(seconds))
        return Timestamp(seconds: seconds + Int64(zone.secondsFromGMT(for: date))).description
            .replacing("T", with: " ").prefix(19).description
    }
}

extension JSONValue {
    /// The value as templates read it.
    var view: Any? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .number(let digits): digits
        case .string(let text): text
        case .array(let items): items.compactMap(\.view)
        case .object(let members):
            Dictionary(members.compactMap { member in member.value.view.map { (member.name, $0) } }) { $1 }
        }
    }

    /// The tree as JSON text with a member in each line.
    var indented: String {
        var text = ""
        write(to: &text, indent: "")
        return text
    }

    private func write(to text: inout String, indent: String) {
        let inner = indent + "  "
        switch self {
        case .array(let items) where !items.isEmpty:
            text += "[\n"
            for (place, item) in items.enumerated() {
                text += inner
                item.write(to: &text, indent: inner)
                text += place == items.count - 1 ? "\n" : ",\n"
            }
            text += indent + "]"
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            for (place, member) in members.enumerated() {
                text += inner + JSONValue.string(member.name).json + ": "
                member.value.write(to: &text, indent: inner)
                text += place == members.count - 1 ? "\n" : ",\n"
            }
            text += indent + "}"
        default: text += json
        }
    }
}

/// A query of the API or of a page.
struct QueryText {
    private var parts: [String] = []

    /// Adds a field; an empty value is left out.
    mutating func add(_ name: String, _ value: String?) {
        guard let value, !value.isEmpty else { return }
        parts.append("\(name)=\(Self.encoded(value))")
    }

    /// The text with its question mark; empty where there is no field.
    var text: String { parts.isEmpty ? "" : "?" + parts.joined(separator: "&") }

    /// A text as a component of an address (RFC 3986, section 2.3).
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
