import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore

/// `aldaba clock`: a development server's clock.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Show a development server's clock, or advance it.",
        discussion: """
            Expirations, the ages of tokens and schedules follow.

            EXAMPLES:
              aldaba clock
              aldaba clock advance 28d
            """)
    @Argument(help: "`advance` and a time such as 90s, 15m, 12h, 28d or 1d12h; nothing shows the clock.")
    var words: [String] = []
    @OptionGroup var server: TestServerOption

    func validate() throws {
        guard words.isEmpty || words.count == 2 && words[0] == "advance" else {
            throw ValidationError("the command is `aldaba clock`, or `aldaba clock advance 28d`")
        }
    }

    func run() async throws {
        let body = words.last.map { JSONValue.object([.init("advance", .string($0))]) }
        let clock = try await server.ask(body == nil ? "GET" : "POST", "/v1/clock", body: body)
        print(clock?["now"]?.text ?? "")
    }
}
