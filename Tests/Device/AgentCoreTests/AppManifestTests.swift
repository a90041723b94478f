import AldabaTestSupport
import DeviceModel
import Foundation
import Testing

@testable import AgentCore
@testable import DeviceStore
@testable import InstalledApps

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
        ("\"TODO\":\"1\"", "\"A=B\":\"1\"", "environment"), ("{\"id\"", "{\"ID\"", "ID"),
        ("\"id\":\"com.example.todo\",", "", "id"),
        ("remote-notification", "remote-notifications", "backgroundModes"),
        ("\"com.example.todo\"", "\"aldaba.notify\"", "id"),
    ])
    func `a fault is named by its key`(part: String, replacement: String, key: String) throws {
        let text = good.replacingOccurrences(of: part, with: replacement)
        let fault = #expect(throws: AppManifestFault.self) { try AppManifest.read(Data(text.utf8)) }
        #expect(fault?.key == key)
    }

    @Test(arguments: ["/bin/sh", "/usr/bin/python3", "/usr/bin/perl", "script"])
    func `a program that runs what others wrote does not prove who it is`(program: String) throws {
        let folder = try TemporaryFolder()
        try "#!/bin/true\n".write(toFile: folder.path("script"), atomically: true, encoding: .utf8)
        var manifest = todoManifest
        manifest.executable = program.hasPrefix("/") ? program : folder.path(program)
        #expect(manifest.programFault()?.description.contains("provesBySecret") == true)
        let apps = AppFolder(path: folder.path("apps"))
        #expect(throws: AppManifestFault.self) { try apps.install(manifest) }
        manifest.provesBySecret = true
        try apps.install(manifest)
        #expect(apps.secret(of: manifest.id)?.count == 64)
        chmod(apps.secretPath(of: manifest.id), 0o644)
        #expect(apps.secret(of: manifest.id) == nil, "others could read it")
    }

    @Test(arguments: [
        "sh", "python3.12", "Python", "pypy3", "lua5.4", "luajit", "guile-3.0", "perl5.40.0", "tclsh8.6", "wish8.6",
        "fish",
        "tcsh", "mksh", "gawk", "mawk", "expect", "Rscript", "julia", "electron", "wine64", "bwrap", "flatpak", "java",
        "ld-linux-x86-64.so.2", "ld-2.31.so", "ld-musl-x86_64.so.1", "ld.so", "qemu-x86_64", "qemu-aarch64-static",
    ])
    func `an interpreter is known by its name, whatever its version`(name: String) throws {
        #expect(try fault(name) != nil)
    }

    @Test(arguments: [
        "node_exporter", "java-app", "wish-list", "lua-editor", "env_monitor", "shell", "python-quiz", "nodes", "2048",
        "7z",
        "ldap", "ldap.sorter", "qemu-manager", "wine-cellar", "todo-2.0", "fishing3",
    ])
    func `a program whose name only begins like an interpreter's may be an app`(name: String) throws {
        #expect(try fault(name) == nil)
    }

    @Test func `an interpreter is known by the name of a link to it, and by its own`() throws {
        let folder = try TemporaryFolder()
        for (link, program) in [("luajit", "luajit-2.1.0-beta3"), ("todo", "python3")] {
            #expect(FileManager.default.createFile(atPath: folder.path(program), contents: Data()))
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: program)
            var manifest = todoManifest
            manifest.executable = folder.path(link)
            #expect(manifest.programFault()?.key == "executable")
        }
    }

    /// What stands against a program of this name that is no script.
    private func fault(_ name: String) throws -> AppManifestFault? {
        let folder = try TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.path(name), contents: Data([0x7F, 0x45, 0x4C, 0x46])))
        var manifest = todoManifest
        manifest.executable = folder.path(name)
        return manifest.programFault()
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
