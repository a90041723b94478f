import Foundation
import Testing

@testable import AldabaConfiguration

@Test(arguments: [(0, false), (900_000, false), (1_000_000, true), (2_000_000, true)])
func `the doctor says when the files of notifications take all that they may`(bytes: Int, isFull: Bool) throws {
    let folder = try TemporaryFolder()
    let media = DataFolder(root: folder.path).media
    try PrivateFile.makeFolder(media)
    try PrivateFile.write(Array(repeating: 0, count: bytes), to: "\(media)/file")
    try PrivateFile.write(Array(repeating: 0, count: 500_000), to: "\(media)/file.json")
    let values = try ConfigurationReader(
        program: .up, arguments: ["--data=\(folder.path)", "--media-quota=1"], environment: [:]
    ).read()
    let finding = try #require(
        Diagnosis.findings(values, environment: [:]).first { $0.what.hasPrefix("media: \(bytes) of 1048576 bytes") })
    #expect(finding.what.contains("the quota is full") == isFull)
    #expect((finding.remedy != nil) == isFull)
    #expect(!finding.isProblem)
}
