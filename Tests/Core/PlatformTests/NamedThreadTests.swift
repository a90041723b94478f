import Foundation
import Platform
import Testing

struct OwnThreadTests {
    @Test(arguments: [nil, 128 << 10])
    func `the system shows a thread under its name`(stackSize: Int?) async throws {
        let name = try await withCheckedThrowingContinuation { continuation in
            NamedThread.begin("fifteen-letters", stackSize: stackSize) {
                continuation.resume(
                    with: Result { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) })
            }
        }
        #expect(name == "fifteen-letters\n")
    }
}
