import Foundation
import LinuxDesktop

/// Lines that may be positions: none may trap, what is read is on the earth, and what is refused is not repeated.
enum PositionFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        switch PositionLine.read(bytes) {
        case .success(let position):
            precondition(abs(position.latitude) <= 90 && abs(position.longitude) <= 180, "beyond the earth")
            precondition(position.accuracy >= 0 && position.accuracy.isFinite, "no accuracy")
            precondition(input.count <= PositionLine.longest, "too long a line")
        case .failure(let fault): precondition(!fault.description.isEmpty, "no words")
        }
    }
}
