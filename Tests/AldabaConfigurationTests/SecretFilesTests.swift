import AldabaTestSupport
import Foundation
import PushCore
import Testing

@testable import AldabaConfiguration

private func read(_ arguments: [String], environment: [String: String] = [:]) throws -> ConfigurationValues {
    try ConfigurationReader(program: .serve, arguments: arguments, environment: environment).read()
}

@Test func `the enrolment key comes from its file, the environment or a flag, and is shown with none of them`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/key"
    try PrivateFile.write(Array("key-of-enrolment\n".utf8), to: path)
    let given = [
        try read(["--enrolment-key-file=\(path)"]),
        try read([], environment: ["ALDABA_ENROLMENT_KEY": "key-of-enrolment"]),
        try read(["--enrolment-key=key-of-enrolment"]),
    ]
    for values in given {
        #expect(try values.enrolmentKey() == Secret("key-of-enrolment"))
        #expect(!shown(values).contains("key-of-enrolment"))
    }
    // A flag is in the list of processes.
    #expect(given.map(\.warnings.count) == [0, 0, 1])
    #expect(given[2].warnings[0].contains("--enrolment-key-file"))
    #expect(try read([]).enrolmentKey() == nil)
}

@Test func `a file without a key, and a key beside a file, are refused in a sentence`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/key"
    let values = try read(["--enrolment-key-file=\(path)"])
    #expect(throws: CommandError.self) { try values.enrolmentKey() }
    for text in ["", "\n", "one\ntwo\n", "a\u{7}b"] {
        try PrivateFile.write(Array(text.utf8), to: path)
        let error = #expect(throws: CommandError.self) { try values.enrolmentKey() }
        #expect(error.map { "\($0)" }?.contains(path) == true)
    }
    try PrivateFile.write(Array("a".utf8), to: path)
    let both = try read(["--enrolment-key-file=\(path)"], environment: ["ALDABA_ENROLMENT_KEY": "b"])
    #expect(throws: CommandError.self) { try both.enrolmentKey() }
}

@Test func `what another user owns is not used, what is root's is`() {
    #expect(PrivateFile.fault(ofOwner: 1000, user: 1000) == nil)
    #expect(PrivateFile.fault(ofOwner: 0, user: 1000) == nil)
    #expect(PrivateFile.fault(ofOwner: 1001, user: 1000)?.contains("user 1001") == true)
    #expect(PrivateFile.fault(ofOwner: 1001, user: 0)?.contains("user root") == true)
}

/// Only root can give files away.
@Test(.enabled(if: geteuid() == 0))
func `every file with a secret, and the data folder, is refused when another user owns it`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let paths = try DevelopmentCertificates.ensure(folder: path, now: Date()).paths
    _ = try SealingKeys.ensure(path + "/token.key")
    let key = try ProviderKeyFile.make().write(folder: path)
    try PrivateFile.write([0x61], to: path + "/enrolment")
    let values = try read(["--enrolment-key-file=\(path)/enrolment"])
    let uses: [(String, () throws -> Void)] = [
        (path + "/token.key", { _ = try SealingKeys.ensure(path + "/token.key") }),
        (key, { _ = try ProviderKeyFile(path: key) }),
        (paths.serverKey, { _ = try CertificateFiles(certificate: paths.server, key: paths.serverKey) }),
        (path + "/enrolment", { _ = try values.enrolmentKey() }),
        (path, { try DataFolder(root: path).make() }),
    ]
    for (owned, use) in uses {
        try use()
        #expect(chown(owned, 54_321, 54_321) == 0)
        let error = #expect(throws: PrivateFile.Failure.self, "\(owned)") { try use() }
        #expect(error?.path == owned)
        #expect(error?.reason.contains("it belongs to user 54321") == true)
        #expect(chown(owned, 0, 0) == 0)
    }
}

@Test func `a certificate's key is not shown with it`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, now: Date()).paths
    let files = try CertificateFiles(certificate: paths.server, key: paths.serverKey)
    #expect(files.key.contains("PRIVATE KEY"))
    #expect(!shown(files).contains("PRIVATE KEY"))
}
