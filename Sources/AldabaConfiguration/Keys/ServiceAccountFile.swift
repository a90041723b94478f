import CryptoExtras
import FCMProtocol
import Foundation
import PushCore

/// A service account's file as Google's libraries read it: its identity, its private key, and the address for access
/// tokens.
package struct ServiceAccountFile: Codable, Sendable {
    /// `service_account`, by which libraries know the file.
    package var type = "service_account"
    /// The team, as FCM's project.
    package var projectID: String
    /// The id of the key: 40 hexadecimal digits.
    package var privateKeyID: String
    /// The private key: RSA, PKCS#8 in PEM.
    package var privateKey: Secret<String>
    /// The account's name, in the form of an e-mail address.
    package var clientEmail: String
    /// The account's number, in decimal.
    package var clientID: String
    /// The address at which the account requests access tokens.
    package var tokenURI: String

    private enum CodingKeys: String, CodingKey {
        case type
        case projectID = "project_id"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case clientID = "client_id"
        case tokenURI = "token_uri"
    }

    /// Makes an account with a new key of 2048 bits.
    ///
    /// - Throws: The error of the cryptographic library.
    package init(team: TeamID, tokenURI: String) throws {
        var generator = SystemRandomNumberGenerator()
        func digits(_ count: Int, of letters: String) -> String {
            let letters = Array(letters)
            return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
        }
        projectID = ProjectName.id(of: team)
        privateKeyID = digits(40, of: "0123456789abcdef")
        privateKey = Secret(try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation + "\n")
        // A domain that is not in use on the public net.
        clientEmail = "messaging-\(digits(5, of: "abcdefghijklmnopqrstuvwxyz0123456789"))@\(projectID).iam.internal"
        clientID = "1" + digits(20, of: "0123456789")
        self.tokenURI = tokenURI
    }

    /// Reads a file; `nil` where there is none, or it is no service account's.
    package init?(path: String) throws(PrivateFile.Failure) {
        guard let text = try PrivateFile.secret(path)?.wrappedValue, let file = JSONLine.read(text, as: Self.self),
            file.type == "service_account"
        else { return nil }
        self = file
    }

    /// The public half of the key, as PEM; `nil` where the private one cannot be read.
    package var publicKeyPEM: String? {
        (try? _RSA.Signing.PrivateKey(pemRepresentation: privateKey.wrappedValue))?.publicKey.pemRepresentation
    }

    /// Writes the file, 0600.
    package func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try PrivateFile.write(try encoder.encode(self) + [10], to: path)
    }

    /// Reads the members of the file.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        type = try members.decode(String.self, forKey: .type)
        projectID = try members.decode(String.self, forKey: .projectID)
        privateKeyID = try members.decode(String.self, forKey: .privateKeyID)
        privateKey = Secret(try members.decode(String.self, forKey: .privateKey))
        clientEmail = try members.decode(String.self, forKey: .clientEmail)
        clientID = try members.decode(String.self, forKey: .clientID)
        tokenURI = try members.decode(String.self, forKey: .tokenURI)
    }

    /// Writes the members of the file.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(type, forKey: .type)
        try members.encode(projectID, forKey: .projectID)
        try members.encode(privateKeyID, forKey: .privateKeyID)
        try members.encode(privateKey.wrappedValue, forKey: .privateKey)
        try members.encode(clientEmail, forKey: .clientEmail)
        try members.encode(clientID, forKey: .clientID)
        try members.encode(tokenURI, forKey: .tokenURI)
    }
}
