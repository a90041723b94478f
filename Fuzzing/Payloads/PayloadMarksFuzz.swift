import Foundation
import PushServer

/// What a payload says for reports: no payload may trap its reading, and what is found stays within its bounds.
enum PayloadMarksFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let marks = PayloadMarks(Array(input))
        precondition(marks.label.isEmpty || PayloadMarks.isLabel(marks.label), "no label")
        precondition((1...64).contains(marks.syncGroup?.utf8.count ?? 1), "a group out of bounds")
    }
}
