import AgentProtocol
import AldabaRichPush
import Foundation
import FuzzDriver

/// What a payload names to be fetched: no payload may trap its reading, and what is found stays within its bounds.
@main
enum PayloadMediaFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let text = Data(UnsafeBufferPointer(start: data, count: count))
                guard let userInfo = try? JSONSerialization.jsonObject(with: text) as? [String: Any] else { return 0 }
                let found = PayloadMedia.all(in: userInfo)
                precondition(found.count <= PayloadMedia.countLimit, "too many")
                precondition(Set(found.map(\.url)).count == found.count, "an address twice")
                precondition(
                    (0...MediaRequest.spreadLimit).contains(PayloadMedia.spread(in: userInfo)), "a spread out of range")
                return 0
            })
    }
}
