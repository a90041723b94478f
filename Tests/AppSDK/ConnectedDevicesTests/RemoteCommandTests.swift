import Foundation
import RelayProtocol
import Testing

@testable import ConnectedDevices

@Suite struct RemoteCommandTests {
    @Test("That nobody knows what came of a command is another end than that it failed")
    func lives() {
        #expect(RemoteCommandLife(.failed, .notDelivered) == .failed)
        #expect(RemoteCommandLife(.failed, .outcomeUnknown) == .outcomeUnknown)
        #expect(RemoteCommandLife(.cancelled, .cancelled) == .canceled)
        #expect(Set(CommandState.allCases.map { RemoteCommandLife($0, nil) }).count == CommandState.allCases.count)
    }

    @Test("A request that was taken back does not leave; one that has left is told of")
    func passage() {
        let early = RequestProgress()
        #expect(!early.takeBack())
        #expect(!early.sendUnlessCancelled { true } && early.isCancelled && !early.hasLeft)
        let late = RequestProgress()
        #expect(late.sendUnlessCancelled { true } && late.hasLeft)
        #expect(late.takeBack())
        let unsent = RequestProgress()
        #expect(!unsent.sendUnlessCancelled { false } && !unsent.hasLeft)
    }

    @Test("Without an agent nothing is known of a command")
    func noAgent() async {
        let command = RemoteCommand()
        await #expect(throws: RemoteCommandError.noAgent) { try await command.life() }
        await #expect(throws: RemoteCommandError.noAgent) { try await command.cancel() }
    }

    @Test("A command of a task that is cancelled already is taken back before it leaves")
    func cancelledBefore() async {
        let outcome = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await RelayClient.shared.command(
                .open(app: "a", service: "s"), id: UUID(), on: "1", within: .seconds(1))
        }.value
        #expect(outcome.status == .cancelled)
    }
}
