import AldabaConfiguration
import ArgumentParser
import Testing
import aldaba

@Suite struct AppCommandTests {
    @Test(arguments: ["aldaba", "aldaba.relay", "Aldaba.Receipts", "aldaba.todo"])
    func `no app is registered under a name that the server uses itself`(topic: String) async throws {
        let folder = try TemporaryFolder()
        let parsed = try AppCommand.parseAsRoot(["create", topic, "--data", folder.path])
        var command = try #require(parsed as? any AsyncParsableCommand)
        let failure = await #expect(throws: CommandError.self) { try await command.run() }
        #expect(failure?.description.contains("begin with `aldaba.`") == true)
    }
}
