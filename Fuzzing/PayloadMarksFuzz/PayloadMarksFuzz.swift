import Foundation
import FuzzDriver
import PushServer

/// What a payload says for reports: no payload may trap its reading, and what is found stays within its bounds.
@main
enum PayloadMarksFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let marks = PayloadMarks(Array(UnsafeBufferPointer(start: data, count: count)))
                precondition(marks.label.isEmpty || PayloadMarks.isLabel(marks.label), "no label")
                precondition((1...64).contains(marks.syncGroup?.utf8.count ?? 1), "a group out of bounds")
                return 0
            })
    }
}
