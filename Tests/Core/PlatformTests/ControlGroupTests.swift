import AldabaTestSupport
import Foundation
import Testing

@testable import Platform

/// Control groups, in a folder that stands for their file system: what the kernel does with what is written is not tested.
@Suite struct ControlGroupTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("user/agent"), withIntermediateDirectories: true)
        for name in ["cgroup.procs", "cgroup.subtree_control"] { try write("", "user/\(name)") }
        try write("cpu memory pids\n", "user/cgroup.controllers")
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name)))
    }

    private func delegated(_ groups: String?, isDelegated: Bool = true) -> String? {
        ControlGroup.delegated(groups: groups, root: folder.url.path, isDelegated: { _ in isDelegated })
    }

    @Test func `groups are made beside one's own, in what was delegated`() {
        #expect(delegated("0::/user/agent\n") == folder.path("user"))
        #expect(delegated("4:memory:/x\n0::/user/agent\n") == folder.path("user"))
        #expect(delegated("0::/user/agent\n", isDelegated: false) == nil)
    }

    @Test(arguments: [
        nil, "", "0::/\n", "0::/agent\n", "4:memory:/user/agent\n", "0::/user/../../etc/agent\n", "0::/other/agent\n",
    ])
    func `where there are none, none are made`(groups: String?) { #expect(delegated(groups) == nil) }

    @Test func `without the controller of memory none are made`() throws {
        try write("cpu pids\n", "user/cgroup.controllers")
        #expect(delegated("0::/user/agent\n") == nil)
    }

    @Test func `a group that cannot have its limit is not kept`() throws {
        // A folder that is made in a plain file system has none of the kernel's files.
        #expect(ControlGroup.make(in: folder.path("user"), memoryLimit: 96 << 20) == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("user"))
        #expect(!names.contains { $0.hasPrefix("aldaba-program-") })
        let written = try String(contentsOfFile: folder.path("user/cgroup.subtree_control"), encoding: .utf8)
        #expect(written == "+memory")
    }

    @Test(arguments: [
        ("low 0\noom 2\noom_kill 1\noom_group_kill 1\n", 100_663_296 as Int64?), ("oom 1\noom_kill 0\n", nil),
        ("", nil),
    ])
    func `the kernel tells for what it killed`(events: String, limit: Int64?) throws {
        let group = ControlGroup(folder: folder.path("user/agent"))
        #expect(group.exceededLimit == nil)
        try write(events, "user/agent/memory.events")
        try write("100663296\n", "user/agent/memory.max")
        #expect(group.exceededLimit == limit)
    }

    @Test func `what is not marked is not delegated`() { #expect(!ControlGroup.isMarked(folder.url.path)) }
}
