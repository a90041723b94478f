import DeviceChannel
import Foundation
import PushCore

/// What a device and a server say to each other at a checkin, through what reads it on both sides.
///
/// What was read must be written and read again as the same message: its known fields, and those of later versions.
enum CheckinFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        CheckinFuzz.feed(Array(input))
    }

    private static func feed(_ input: [UInt8]) {
        // A refusal is what most inputs deserve.
        if let request = try? MCSCheckinRequest(serializedBytes: input) {
            let written: [UInt8]? = try? request.serializedBytes()
            precondition(
                written.flatMap { try? MCSCheckinRequest(serializedBytes: $0) } == request,
                "a request is read again as it was written")
            // As the server reads who asks.
            _ = DeviceID(UInt64(bitPattern: request.id))
        }
        if let answer = try? MCSCheckinResponse(serializedBytes: input) {
            let written: [UInt8]? = try? answer.serializedBytes()
            precondition(
                written.flatMap { try? MCSCheckinResponse(serializedBytes: $0) } == answer,
                "an answer is read again as it was written")
            // As the device reads who it is.
            _ = DeviceID(answer.androidID)
        }
    }
}
