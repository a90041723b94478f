import CoreValues
import Crypto
import Foundation
import RelayAgent
import RelayProtocol

/// Messages of handshakes, sealed content and queued messages from other devices: none may trap, none that was not sealed for this device is
/// opened, and what is refused changes nothing.
enum NoiseFuzz: FuzzTest {
    private static let own = Curve25519.KeyAgreement.PrivateKey()
    private static let other = Curve25519.KeyAgreement.PrivateKey()

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let input = Array(input)
        NoiseFuzz.feed(input)
        NoiseFuzz.post(input)
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
        precondition((try? receiving.open(input[...])) == nil, "content that nobody sealed")
        guard let sealed = try? sending.seal(input) else { preconditionFailure("nothing can be sealed") }
        precondition((try? receiving.open(sealed[...])) == input, "content arrived as another")
        precondition((try? receiving.open(sealed[...])) == nil, "content arrived twice")
    }

    /// The devices 1 and 2 of one account, which know each other by their list.
    private static let devices: (RelaySeals, RelaySeals) = {
        let account = AccountKey()
        var list = RelayDeviceList()
        list.set("1", key: Array(own.publicKey.rawRepresentation), isRemoved: false)
        list.set("2", key: Array(other.publicKey.rawRepresentation), isRemoved: false)
        func seals(_ device: String, _ key: Curve25519.KeyAgreement.PrivateKey) -> RelaySeals {
            var seals = RelaySeals(key: Array(key.rawRepresentation))
            seals.begin(device: device, account: account)
            seals.takes(list)
            return seals
        }
        return (seals("1", own), seals("2", other))
    }()

    private static func post(_ input: [UInt8]) {
        var (sender, receiver) = devices
        var queuedMessage = QueuedMessage(peer: "2", id: UUID(), deadline: 5, body: input)
        guard
            case .send(.queuedMessage(let sealed)) = sender.outgoing(
                .queuedMessage(queuedMessage), at: Timestamp(rawValue: 0))
        else {
            preconditionFailure("a queued message cannot be sealed")
        }
        queuedMessage.peer = "1"
        precondition(body(queuedMessage, &receiver) == [], "a queued message that nobody sealed")
        queuedMessage.body = sealed.body
        precondition(body(queuedMessage, &receiver) == input, "a queued message arrived as another")
        queuedMessage.deadline = 6
        precondition(body(queuedMessage, &receiver) == [], "a queued message with another deadline")
    }

    private static func body(_ queuedMessage: QueuedMessage, _ seals: inout RelaySeals) -> [UInt8]? {
        if case .queuedMessage(let opened)? = seals.incoming(.queuedMessage(queuedMessage), at: Timestamp(rawValue: 0))
            .frame
        {
            opened.body
        } else {
            nil
        }
    }
}
