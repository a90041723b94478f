import AldabaTestSupport
import Foundation
import Testing

@testable import AgentCore

/// Programs that run beside the agent, each a shell script here.
@Suite(.timeLimit(.minutes(1))) struct ChildProgramTests {
    private func run(
        _ script: String, outputLimit: Int? = 1000, patience: Duration = .seconds(600)
    ) throws -> String? {
        let shell = ChildProgram(
            path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"])
        return try shell.run(outputLimit: outputLimit, patience: patience).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("printf here", "here"), ("printf here; exec >&-; exit 0", "here"), ("exec >&-; exit 3", nil),
        ("printf here; exit 3", nil), ("kill -9 $$", nil), ("sleep 5 & printf here", "here"),
    ])
    func `what a program writes counts when it ends well`(script: String, output: String?) throws {
        #expect(try run(script) == output)
    }

    @Test func `a program that writes as much as it may is heard`() throws {
        #expect(try run("head -c 1000 /dev/zero")?.utf8.count == 1000)
    }

    @Test(arguments: ["head -c 1001 /dev/zero", "yes"])
    func `a program that writes more is ended at once`(script: String) throws {
        #expect(try run(script) == nil)
    }

    @Test func `a program whose output is of no use may write as it likes`() throws {
        #expect(try run("head -c 200000 /dev/zero", outputLimit: nil) == "")
    }

    @Test(arguments: ["sleep 50", "exec >&-; sleep 50"])
    func `the patience ends a program with what it started`(script: String) throws {
        #expect(try run(script, patience: .milliseconds(50)) == nil)
    }

    @Test func `a program is found by the folders, the first one first`() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        for path in [first.path("a"), second.path("a"), second.path("b")] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o700]))
        }
        #expect(FileManager.default.createFile(atPath: first.path("b"), contents: nil))
        func find(_ name: String) -> String? {
            ChildProgram.find(name, environment: ["PATH": "\(first.url.path):\(second.url.path)"])
        }
        #expect(find("a") == first.path("a") && find("b") == second.path("b") && find("c") == nil)
        #expect(find(second.path("a")) == second.path("a") && find(first.path("b")) == nil)
    }
}
