import Testing

@testable import AldabaConfiguration

/// What `doctor` says of the disk of the data folder.
@Suite struct SpaceFindingTests {
    private func finding(_ free: UInt64, isReadOnly: Bool = false) -> Finding {
        Diagnosis.space(free: free, isReadOnly: isReadOnly, path: "/data")
    }

    @Test func `a disk with room is in order, one with little is told, and one without is a problem`() {
        #expect(finding(64 << 20) == Finding(what: "space: 64 MiB free for /data"))
        #expect(finding(63 << 20).remedy != nil && !finding(63 << 20).isProblem)
        #expect(finding(0).isProblem && finding(0).what.hasSuffix("the disk is full"))
    }

    @Test func `a disk that is mounted read-only is a problem, however much room it has`() {
        #expect(finding(.max, isReadOnly: true).isProblem)
        #expect(finding(.max, isReadOnly: true).remedy?.contains("mount it for writing") == true)
    }
}
