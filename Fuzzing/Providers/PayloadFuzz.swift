import APNsProtocol
import Foundation
import PushCore

/// The payload scanner: no input may trap it, and what it lets pass must be an object to Foundation's parser too.
enum PayloadFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let diagnosis = PayloadDiagnosis(Array(input))
        guard JSONScanner.fault(inObject: input) == nil else {
            precondition(diagnosis != nil, "the diagnosis passed what the scanner refused")
            return
        }
        let parsed = try? JSONSerialization.jsonObject(with: Data(input))
        precondition(parsed is [String: Any], "the scanner passed what is no JSON object")
    }
}
