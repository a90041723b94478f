import APNsProtocol
import Foundation
import FuzzDriver
import PushCore

/// The payload scanner: no input may trap it, and what it lets pass must be an object to Foundation's parser too.
@main
enum PayloadFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let bytes = UnsafeBufferPointer(start: data, count: count)
                let diagnosis = PayloadDiagnosis(Array(bytes))
                guard JSONScanner.fault(inObject: bytes) == nil else {
                    precondition(diagnosis != nil, "the diagnosis passed what the scanner refused")
                    return 0
                }
                let parsed = try? JSONSerialization.jsonObject(with: Data(bytes))
                precondition(parsed is [String: Any], "the scanner passed what is no JSON object")
                return 0
            })
    }
}
