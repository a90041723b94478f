import FCMProtocol
import Foundation
import PushCore
import Testing

@testable import AldabaConfiguration

@Suite struct ServiceAccountFileTests {
    @Test func `a file is its owner's alone, is read back, and shows no key`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/account.json"
        let made = try ServiceAccountFile(team: TeamID(rawValue: "TEAM123456"), tokenURI: "https://here/token")
        try made.write(to: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let read = try #require(try ServiceAccountFile(path: path))
        #expect(read.projectID == "team123456" && read.tokenURI == "https://here/token")
        #expect(read.privateKeyID == made.privateKeyID && read.clientEmail == made.clientEmail)
        #expect(read.privateKeyID.count == 40 && read.clientID.count == 21)
        let key = try #require(read.publicKeyPEM)
        #expect(ServiceAccountKey(pem: key) != nil && key == made.publicKeyPEM)
        #expect(!"\(read)".contains("PRIVATE KEY"))
        #expect(read.privateKey.wrappedValue.hasPrefix("-----BEGIN PRIVATE KEY-----"), "PKCS#8")
    }

    @Test func `what is no service account is none`() throws {
        let folder = try TemporaryFolder()
        #expect(try ServiceAccountFile(path: folder.path + "/missing") == nil)
        for text in ["", "{}", #"{"type":"authorized_user"}"#] {
            try PrivateFile.write(Array(text.utf8), to: folder.path + "/other")
            #expect(try ServiceAccountFile(path: folder.path + "/other") == nil)
        }
    }
}
