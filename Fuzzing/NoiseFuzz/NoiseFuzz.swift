import Crypto
import Foundation
import FuzzDriver
import NoiseSession

/// Messages of handshakes and sealed content from other devices: none may trap, none that was not sealed for this device is
/// opened, and what is refused changes nothing.
@main
enum NoiseFuzz {
    private static let own = Curve25519.KeyAgreement.PrivateKey()
    private static let other = Curve25519.KeyAgreement.PrivateKey()

    static func main() {
        exit(
            FuzzDriver.run { data, count in
                NoiseFuzz.feed(Array(UnsafeBufferPointer(start: data, count: count)))
                return 0
            })
    }

    private static func feed(_ input: [UInt8]) {
        precondition((try? NoiseResponder(own: own, first: input)) == nil, "a first message that nobody sealed")
        _ = try? NoiseInitiator(own: own, remote: input)
        guard var initiator = try? NoiseInitiator(own: other, remote: Array(own.publicKey.rawRepresentation)),
            let first = try? initiator.first(input), var responder = try? NoiseResponder(own: own, first: first)
        else { preconditionFailure("a handshake cannot begin") }
        precondition(responder.payload == input, "a payload arrived as another")
        var misled = initiator
        precondition((try? misled.finish(input)) == nil, "an answer that nobody sealed")
        guard let (answer, session) = try? responder.answer(input), let ended = try? initiator.finish(answer) else {
            preconditionFailure("a handshake cannot end")
        }
        var (sending, receiving) = (session.sending, ended.session.receiving)
        precondition((try? receiving.open(input)) == nil, "content that nobody sealed")
        guard let sealed = try? sending.seal(input) else { preconditionFailure("nothing can be sealed") }
        precondition((try? receiving.open(sealed)) == input, "content arrived as another")
        precondition((try? receiving.open(sealed)) == nil, "content arrived twice")
    }
}
