import AgentProtocol
import Foundation

/// How much one answer of the agent carries.
package enum AnswerLimits {
    /// How many notifications of an app's list one answer has at most, the newest last.
    package static let listed = 256
    /// The most bytes of JSON in one answer; the rest of the frame is left for its envelope.
    package static let bytes = AgentFrame.maximumLength - (64 << 10)

    /// The newest values that fit into one answer together, the newest last; a value that does not fit is left out.
    package static func fitting<Value: Encodable>(_ values: [Value], bytes: Int = bytes) -> [Value] {
        var rest = bytes
        let kept = values.reversed().filter { value in
            guard let size = try? JSONEncoder().encode(value).count, size <= rest else { return false }
            rest -= size
            return true
        }
        return kept.reversed()
    }
}
