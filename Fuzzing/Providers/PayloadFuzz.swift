import APNsProtocol
import Foundation
import PushCore

/// The payload scanner: no input may trap it, and what it lets pass must be an object to Foundation's parser too, with the
/// same values as to ours.
enum PayloadFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let diagnosis = PayloadDiagnosis(Array(input))
        guard JSONScanner.fault(inObject: input) == nil else {
            precondition(diagnosis != nil, "the diagnosis passed what the scanner refused")
            return
        }
        let parsed = try? JSONSerialization.jsonObject(with: Data(input))
        precondition(parsed is [String: Any], "the scanner passed what is no JSON object")
        guard let value = try? JSONValue(object: Array(input)) else {
            preconditionFailure("the scanner passed what our parser refuses")
        }
        precondition((try? JSONValue(object: value.bytes)) == value, "what was read is written as something else")
        precondition(agree(value, parsed), "the two parsers read different values")
    }

    private static func agree(_ ours: JSONValue, _ theirs: Any?) -> Bool {
        switch (ours, theirs) {
        case (.null, is NSNull): true
        case (.boolean(let ours), let theirs as Bool): ours == theirs
        case (.number(let ours), let theirs as NSNumber):
            // Foundation reads up to 38 digits as a decimal number, whose value as Double is rounded differently.
            abs((Double(ours) ?? .nan) - theirs.doubleValue) <= 1e-12 * abs(theirs.doubleValue)
        case (.string(let ours), let theirs as String): withoutMarks(ours) == withoutMarks(theirs)
        case (.array(let ours), let theirs as [Any]):
            ours.count == theirs.count && zip(ours, theirs).allSatisfy { agree($0, $1) }
        case (.object(let members), let theirs as [String: Any]):
            members.contains { $0.name.unicodeScalars.count != withoutMarks($0.name).count }
                || theirs.count == Set(members.map(\.name)).count && theirs.allSatisfy { agree(ours[$0] ?? .null, $1) }
        default: false
        }
    }

    /// Foundation loses a byte order mark at the beginning of a string and behind an escape.
    private static func withoutMarks(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { $0 != "\u{FEFF}" }
    }
}
