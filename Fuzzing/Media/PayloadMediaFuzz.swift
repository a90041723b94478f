import AgentProtocol
import AldabaRichPush
import Foundation

/// What a payload names to be fetched: no payload may trap its reading, and what is found stays within its bounds.
enum PayloadMediaFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let text = Data(input)
        guard let userInfo = try? JSONSerialization.jsonObject(with: text) as? [String: Any] else { return }
        let found = PayloadMedia.all(in: userInfo)
        precondition(found.count <= PayloadMedia.countLimit, "too many")
        precondition(Set(found.map(\.url)).count == found.count, "an address twice")
        precondition(
            (0...MediaRequest.spreadLimit).contains(PayloadMedia.spread(in: userInfo)), "a spread out of range")
    }
}
