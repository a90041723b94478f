import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

@testable import AgentRuntime

struct AppFolderTests {
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

    @Test(arguments: ["/bin/sh", "/usr/bin/python3", "/usr/bin/perl", "script"])
    func `a program that runs what others wrote does not prove who it is`(program: String) throws {
        let folder = try TemporaryFolder()
        try "#!/bin/true\n".write(toFile: folder.path("script"), atomically: true, encoding: .utf8)
        var manifest = todoManifest
        manifest.executable = program.hasPrefix("/") ? program : folder.path(program)
        #expect(manifest.programFault()?.description.contains("provesBySecret") == true)
        let apps = AppFolder(path: folder.path("apps"))
        #expect(throws: AppManifestError.self) { try apps.install(manifest) }
        manifest.provesBySecret = true
        try apps.install(manifest)
        #expect(apps.secret(of: manifest.id)?.count == 64)
        chmod(apps.secretPath(of: manifest.id), 0o644)
        #expect(apps.secret(of: manifest.id) == nil, "others could read it")
    }

    @Test func `an installed script has a secret that nobody else can read, and keeps it`() throws {
        let folder = try TemporaryFolder()
        let apps = AppFolder(path: folder.path("apps"))
        var manifest = todoManifest
        manifest.provesBySecret = true
        try apps.install(manifest)
        let secret = try #require(apps.secret(of: manifest.id))
        #expect(secret.count == 64)
        let attributes = try FileManager.default.attributesOfItem(atPath: apps.secretPath(of: manifest.id))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try apps.install(manifest)
        #expect(apps.secret(of: manifest.id) == secret)
        #expect(apps.load().apps[manifest.id] == manifest)
    }
}
