import Crypto
import Dispatch
import Foundation
import Testing
import aldaba

@testable import AldabaConfiguration

private let now = Date(timeIntervalSince1970: 1_800_000_000)

/// A folder with a development certificate, for its files.
private func made(_ folder: TemporaryFolder) throws -> DevelopmentCertificates.Paths {
    try DevelopmentCertificates.ensure(folder: folder.path, now: now).paths
}

@Test func `a certificate and its key are read, with the end that comes first in the chain`() throws {
    let folder = try TemporaryFolder()
    let paths = try made(folder)
    let files = try CertificateFiles(certificate: paths.server, key: paths.serverKey)
    #expect(files.daysLeft(at: now) == 396)
    #expect(files.names == ["localhost", "127.0.0.1", "::1"])
    #expect(files.daysLeft(at: now.addingTimeInterval(397 * 86_400)) == -1)
    let both = try String(contentsOfFile: paths.server, encoding: .utf8)
    let authority = try String(contentsOfFile: paths.authority, encoding: .utf8)
    try PrivateFile.write(Array("a comment\n\(both)\(authority)".utf8), to: folder.path + "/chain.pem")
    let chain = try CertificateFiles(certificate: folder.path + "/chain.pem", key: paths.serverKey)
    #expect(chain.end == files.end)
}

@Test func `a key that is another's is refused in a sentence that names both files`() throws {
    let folder = try TemporaryFolder()
    let paths = try made(folder)
    let error = #expect(throws: CertificateFiles.Unusable.self) {
        try CertificateFiles(certificate: paths.server, key: paths.authorityKey)
    }
    #expect(error.map { "\($0)" }?.contains("\(paths.authorityKey): this key does not fit") == true)
    #expect(error.map { "\($0)" }?.contains(paths.server) == true)
}

@Test(arguments: ["", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
func `what holds no certificate is refused`(text: String) throws {
    let folder = try TemporaryFolder()
    let paths = try made(folder)
    try PrivateFile.write(Array(text.utf8), to: paths.server)
    let error = #expect(throws: CertificateFiles.Unusable.self) {
        try CertificateFiles(certificate: paths.server, key: paths.serverKey)
    }
    #expect(error?.path == paths.server)
    for missing in [(paths.server + "x", paths.serverKey), (paths.authority, paths.serverKey + "x")] {
        #expect(throws: CertificateFiles.Unusable.self) {
            try CertificateFiles(certificate: missing.0, key: missing.1)
        }
    }
}

@Test func `a file that is replaced, written anew, removed or made has changed once`() throws {
    let folder = try TemporaryFolder()
    let (one, two) = (folder.path + "/one", folder.path + "/two")
    try PrivateFile.write([1], to: one)
    var watch = FileWatch([one, two])
    let isNew = watch.hasChanged()
    #expect(!isNew)
    let changes: [() throws -> Void] = [
        { try PrivateFile.write([2], to: one) },
        { try Data([1, 2]).write(to: URL(fileURLWithPath: one)) },
        { try PrivateFile.write([1], to: two) },
        { try FileManager.default.removeItem(atPath: one) },
    ]
    for change in changes {
        try change()
        let (first, second) = (watch.hasChanged(), watch.hasChanged())
        #expect(first && !second)
    }
}

@Test(.timeLimit(.minutes(5))) func `SIGHUP and time are occasions to read again, until nobody asks any more`() async {
    let asked = Task {
        var seen: [ReloadTriggers.Occasion] = []
        await ReloadTriggers.forEach(every: .milliseconds(20)) { occasion in
            seen.append(occasion)
            // From the first look on the signal is not the process's end.
            if seen.count == 1 { kill(getpid(), SIGHUP) }
            if occasion == .asked { withUnsafeCurrentTask { $0?.cancel() } }
        }
        return seen
    }
    let seen = await asked.value
    #expect(seen.first == .time)
    #expect(seen.contains(.asked))
}

/// What `doctor` says of the certificates of a folder, with settings of its own, so many days after they were made.
private func findings(_ folder: TemporaryFolder, _ settings: [String] = [], day: Double = 0) throws -> [Finding] {
    let values = try ConfigurationReader(
        program: .up, arguments: ["--data=\(folder.path)"] + settings, environment: [:]
    ).read()
    return Diagnosis.findings(values, environment: [:], now: now.addingTimeInterval(day * 86_400))
        .filter { $0.what.contains(".pem") }
}

@Test func `the doctor tells the days left, and whether the key fits`() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(root: folder.path)
    try data.make()
    #expect(try findings(folder).allSatisfy { !$0.isProblem && $0.what.contains("none yet") })
    let paths = try DevelopmentCertificates.ensure(folder: data.certificates, now: now).paths
    #expect(try findings(folder).map(\.isProblem) == [false, false])
    #expect(try findings(folder).last?.what.contains("396 days left, its key fits") == true)

    let own = ["--certificate=\(paths.server)", "--certificate-key=\(paths.serverKey)"]
    #expect(try findings(folder, own).last?.remedy == nil)
    let soon = try #require(try findings(folder, own, day: 390).last)
    #expect(soon.what.contains("6 days left") && soon.remedy != nil && !soon.isProblem)
    let late = try #require(try findings(folder, own, day: 400).last)
    #expect(late.what.contains("ended 4 days ago") && late.isProblem)
    let foreign = ["--certificate=\(paths.server)", "--certificate-key=\(paths.authorityKey)"]
    let unfit = try #require(try findings(folder, foreign).last)
    #expect(unfit.what.contains("does not fit") && unfit.remedy != nil && unfit.isProblem)
    // An authority of one's own, whose certificate was copied here: nothing makes a new one.
    try FileManager.default.removeItem(atPath: paths.authorityKey)
    let authority = try #require(try findings(folder, own).first)
    #expect(authority.what.contains("days left") && !authority.what.contains("`up`") && authority.remedy == nil)
    let ended = try #require(try findings(folder, own, day: 10_000).first)
    #expect(ended.what.contains("ended") && ended.isProblem)
    try FileManager.default.removeItem(atPath: paths.authority)
    #expect(try findings(folder, own).count == 1, "none is needed")
}

@Test func `the doctor tells an operator's pair in the place of the development one`() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(root: folder.path)
    try data.make()
    let paths = try DevelopmentCertificates.ensure(folder: data.certificates, now: now).paths
    let server = try String(contentsOfFile: paths.server, encoding: .utf8)
    #expect(try findings(folder).allSatisfy { $0.what.contains("`up` makes a new one in time") })
    try FileManager.default.removeItem(atPath: paths.authority)
    try FileManager.default.removeItem(atPath: paths.authorityKey)
    let told = try findings(folder)
    #expect(told.count == 1)
    let present = try #require(told.last)
    #expect(present.what.contains("396 days left") && present.what.contains("`up` would replace it"))
    #expect(!present.what.contains("in time") && present.remedy == nil)
    let soon = try #require(try findings(folder, day: 390).last)
    #expect(soon.what.contains("6 days left") && soon.remedy?.hasPrefix("renew it") == true && !soon.isProblem)
    #expect(try findings(folder, day: 400).last?.isProblem == true)
    // What the doctor says of `up` is so.
    _ = try DevelopmentCertificates.ensure(folder: data.certificates, now: now)
    #expect(try String(contentsOfFile: paths.server, encoding: .utf8) != server)
}
