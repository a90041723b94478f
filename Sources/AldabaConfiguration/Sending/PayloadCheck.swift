import APNsProtocol
import PushCore

/// Checks a payload before it is sent. A near miss is refused here, where the intended text can be named.
package enum PayloadCheck {
    /// Checks the payload of `aldaba send`.
    ///
    /// - Parameters:
    ///   - source: The file's name, for the message.
    ///   - pushType: The push type as it was written; `nil` means `alert`.
    ///   - asIs: Leaves the payload to the server.
    /// - Returns: A warning about content that the device will not show; mostly `nil`.
    /// - Throws: A sentence with line and column, and the intended text.
    package static func warning(
        on payload: [UInt8], from source: String, pushType: String?, asIs: Bool
    ) throws(CommandError) -> String? {
        let known = pushType.flatMap(PushType.init)
        if let pushType, known == nil {
            let types = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError(.invalidInput, "--push-type: \"\(pushType)\" is none of \(types)")
        }
        let type = known ?? .alert
        let limit = APNsPayloadLimit.bytes(for: type)
        if !asIs {
            if let diagnosis = PayloadDiagnosis(payload, pushType: type) {
                throw CommandError(
                    .invalidInput, "\(source), \(diagnosis). Nothing was sent; --as-is sends it all the same")
            }
            guard payload.count <= limit else {
                throw CommandError(
                    .invalidInput,
                    "\(source) has \(payload.count) bytes, at most \(limit) are allowed. Nothing was sent")
            }
        }
        return PayloadDiagnosis.note(on: JSONScanner.scan(ofObject: payload), pushType: type)
    }
}
