import Testing

@testable import RelayAgent

@Suite struct RelayPairingTests {
    /// Two sides at a place; what one says the other hears, unless somebody between says something else.
    struct Pair {
        let account = AccountKey()
        var giver: RelayPairing
        var taker: RelayPairing
        var digits: [String] = []
        var taken: AccountKey?
        var failures: [String] = []
        var isGiven = false

        init() {
            giver = RelayPairing(place: [1], account: account)
            taker = RelayPairing(place: [1], account: nil)
        }

        mutating func follow(
            _ steps: [RelayPairing.Step], ofGiver: Bool, between: ([UInt8]) -> [UInt8] = { $0 }
        ) {
            for step in steps {
                switch step {
                case .say(let message):
                    let heard = between(message)
                    let answer = ofGiver ? taker.receive(heard) : giver.receive(heard)
                    follow(answer, ofGiver: !ofGiver, between: between)
                case .compare(let shown): digits.append(shown)
                case .join(let key): taken = key
                case .failed(let why): failures.append(why)
                case .given: isGiven = true
                }
            }
        }
    }

    @Test(
        "Both show the same six digits, and the account's key goes over after a word on both", arguments: [true, false])
    func pairing(_ giverFirst: Bool) {
        var pair = Pair()
        pair.follow(pair.giver.peerJoined(), ofGiver: true)
        #expect(pair.digits.count == 2 && pair.digits[0] == pair.digits[1] && pair.digits[0].count == 6)
        for ofGiver in [giverFirst, !giverFirst] {
            #expect(pair.taken == nil)
            let steps = ofGiver ? pair.giver.answered(areSame: true) : pair.taker.answered(areSame: true)
            pair.follow(steps, ofGiver: ofGiver)
        }
        #expect(pair.taken == pair.account)
        #expect(pair.failures.isEmpty)
    }

    @Test("One that stands between with keys of its own is seen by the digits")
    func between() {
        var left = RelayPairing(place: [1], account: AccountKey())
        var right = RelayPairing(place: [1], account: nil)
        var toLeft = RelayPairing(place: [1], account: nil)
        var toRight = RelayPairing(place: [1], account: AccountKey())
        func said(_ steps: [RelayPairing.Step]) -> [UInt8] {
            steps.compactMap { if case .say(let message) = $0 { message } else { nil } }.first ?? []
        }
        func shown(_ steps: [RelayPairing.Step]) -> String? {
            steps.compactMap { if case .compare(let digits) = $0 { digits } else { nil } }.first
        }
        let leftSteps = left.receive(said(toLeft.receive(said(left.peerJoined()))))
        let rightAnswer = right.receive(said(toRight.peerJoined()))
        let rightSteps = right.receive(said(toRight.receive(said(rightAnswer))))
        #expect(shown(leftSteps) != nil && shown(leftSteps) != shown(rightSteps))
    }

    @Test("Who reveals something else than was committed to is refused, and so is every changed message")
    func changed() {
        for kind: UInt8 in [1, 2, 3, 4, 6] {
            var pair = Pair()
            func between(_ message: [UInt8]) -> [UInt8] {
                guard message.first == kind else { return message }
                var changed = message
                changed[changed.count - 1] ^= 1
                return changed
            }
            pair.follow(pair.giver.peerJoined(), ofGiver: true, between: between)
            pair.follow(pair.giver.answered(areSame: true), ofGiver: true, between: between)
            pair.follow(pair.taker.answered(areSame: true), ofGiver: false, between: between)
            let isSeen = pair.digits.count == 2 && pair.digits[0] != pair.digits[1]
            #expect(isSeen || !pair.failures.isEmpty, "\(kind)")
            #expect(pair.taken == nil, "\(kind)")
        }
    }

    @Test("A no on either side, before or after the other's yes, gives nothing and is told to both")
    func refused() {
        for ofGiver in [true, false] {
            for isLast in [true, false] {
                var pair = Pair()
                pair.follow(pair.giver.peerJoined(), ofGiver: true)
                for saysNo in [!isLast, isLast] {
                    let isGiver = saysNo == ofGiver
                    let steps =
                        isGiver ? pair.giver.answered(areSame: !saysNo) : pair.taker.answered(areSame: !saysNo)
                    pair.follow(steps, ofGiver: isGiver)
                }
                #expect(pair.taken == nil && !pair.isGiven)
                #expect(pair.failures.count == 2)
            }
        }
    }

    @Test("The key does not go over before the other device's own word, whatever somebody between says")
    func forgedAgreement() {
        var pair = Pair()
        pair.follow(pair.giver.peerJoined(), ofGiver: true)
        pair.follow(pair.giver.answered(areSame: true), ofGiver: true)
        #expect(!pair.isGiven)
        pair.follow(pair.giver.receive([6] + [UInt8](repeating: 0, count: 28)), ofGiver: true)
        #expect(!pair.isGiven && pair.failures.count == 2)
    }

    @Test("What nobody says at that moment is no trap", arguments: 0...8)
    func outOfTurn(_ kind: UInt8) {
        for length in [0, 1, 31, 32, 47, 48, 100] {
            var pair = Pair()
            _ = pair.giver.receive([kind] + [UInt8](repeating: 7, count: length))
            _ = pair.taker.receive([kind] + [UInt8](repeating: 7, count: length))
            #expect(pair.taker.answered(areSame: true).allSatisfy { if case .join = $0 { false } else { true } })
        }
    }
}
