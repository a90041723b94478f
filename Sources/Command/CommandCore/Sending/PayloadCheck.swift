import APNsWire
import PushModel

/// Looks at a payload before it is sent: what is nearly right is refused here, where it can be said what was meant.
public enum PayloadCheck {
    /// Judges what `aldaba send` was given.
    ///
    /// - Parameters:
    ///   - source: The file's name, for the message.
    ///   - pushType: As it was written; `nil` stands for `alert`.
    ///   - asIs: Leaves the payload to the server.
    /// - Returns: What the device will not show; mostly nothing.
    /// - Throws: a sentence with line and column, and what was meant.
    public static func warning(
        on payload: [UInt8], from source: String, pushType: String?, asIs: Bool
    ) throws(CommandFailure) -> String? {
        let known = pushType.flatMap(PushType.init)
        if let pushType, known == nil {
            let types = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.invalidInput, "--push-type: \"\(pushType)\" is none of \(types)")
        }
        let type = known ?? .alert
        let limit = APNsPayloadLimit.bytes(for: type)
        if !asIs {
            if let diagnosis = PayloadDiagnosis(payload, pushType: type) {
                throw CommandFailure(
                    .invalidInput, "\(source), \(diagnosis). Nothing was sent; --as-is sends it all the same")
            }
            guard payload.count <= limit else {
                throw CommandFailure(
                    .invalidInput,
                    "\(source) has \(payload.count) bytes, at most \(limit) are allowed. Nothing was sent")
            }
        }
        return PayloadDiagnosis.note(on: JSONScanner.survey(ofObject: payload), pushType: type)
    }
}
