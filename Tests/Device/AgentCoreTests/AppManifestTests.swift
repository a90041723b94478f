import AldabaTestSupport
import Foundation
import Testing

@testable import AgentCore

struct AppManifestTests {
    private let good = """
        {"id":"com.example.todo","name":"Todo","team":"TEAM000001","executable":"/opt/todo","authorization":"granted",
        "lifecycle":"always","arguments":["--quiet"],"environment":{"TODO":"1"},"backgroundModes":["remote-notification"]}
        """

    @Test func `a complete manifest is read`() throws {
        let manifest = try AppManifest.read(Data(good.utf8))
        #expect(manifest.id == "com.example.todo")
        #expect(manifest.arguments == ["--quiet"])
        #expect(manifest.environment == ["TODO": "1"])
        #expect(manifest.authorization == .granted)
    }

    @Test(arguments: [
        ("\"com.example.todo\"", "\"../evil\"", "id"), ("\"com.example.todo\"", "\".hidden\"", "id"),
        ("TEAM000001", "team", "team"), ("\"/opt/todo\"", "\"opt/todo\"", "executable"),
        ("\"/opt/todo\"", "7", "executable"), ("granted", "maybe", "authorization"), ("always", "never", "lifecycle"),
        ("\"TODO\":\"1\"", "\"A=B\":\"1\"", "environment"), ("{\"id\"", "{\"ID\"", "id"),
    ])
    func `a fault is named by its key`(part: String, replacement: String, key: String) throws {
        let text = good.replacingOccurrences(of: part, with: replacement)
        let fault = #expect(throws: AppManifestFault.self) { try AppManifest.read(Data(text.utf8)) }
        #expect(fault?.key == key)
    }

    @Test func `a folder gives its good manifests and names the others`() throws {
        let folder = try TemporaryFolder()
        let apps = AppFolder(path: folder.path("apps"))
        #expect(apps.load().apps.isEmpty)
        let file = try apps.install(todoManifest)
        #expect(try apps.install(todoManifest) == file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        try Data("[]".utf8).write(to: URL(fileURLWithPath: apps.path + "/bad.json"))
        try Data("[]".utf8).write(to: URL(fileURLWithPath: apps.path + "/notes.txt"))
        let loaded = apps.load()
        #expect(loaded.apps == ["com.example.todo": todoManifest])
        #expect(loaded.faults.map(\.file) == ["bad.json"])
    }
}
