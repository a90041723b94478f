import Testing

@testable import Networking

/// Signatures of requests to an object store, and the file of its access key.
struct S3SignatureTests {
    private static let credentials = S3Credentials(
        id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let host = "examplebucket.s3.amazonaws.com"
    private static let noBytes = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// The examples of "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" (Amazon S3
    /// API reference).
    @Test(
        "Signatures are those of Amazon's examples",
        arguments: [
            (
                "GET", "/test.txt", ["host": host, "range": "bytes=0-9"], noBytes,
                "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "PUT", "/test%24file.text",
                [
                    "host": host, "date": "Fri, 24 May 2013 00:00:00 GMT",
                    "x-amz-storage-class": "REDUCED_REDUNDANCY",
                ],
                "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
                "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
        ])
    func examples(
        method: String, path: String, headers: [String: String], sha256: String, names: String, signature: String
    ) {
        let fields = S3Signature(credentials: Self.credentials, region: "us-east-1").fields(
            method: method, path: path, headers: headers, sha256: sha256, seconds: 1_369_353_600)
        #expect(
            fields == [
                "x-amz-date": "20130524T000000Z", "x-amz-content-sha256": sha256,
                "authorization":
                    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                    + "SignedHeaders=\(names),Signature=\(signature)",
            ])
    }

    @Test("The token of temporary credentials is sent and signed")
    func token() {
        var temporary = Self.credentials
        temporary.token = "TOKEN"
        let fields = S3Signature(credentials: temporary, region: "us-east-1").fields(
            method: "GET", path: "/a", headers: ["host": Self.host], sha256: Self.noBytes, seconds: 1_369_353_600)
        #expect(fields["x-amz-security-token"] == "TOKEN")
        #expect(fields["authorization"]?.contains(";x-amz-security-token,") == true)
    }

    @Test(
        "The file of an access key is that of AWS's programs",
        arguments: [
            "aws_access_key_id=ID\naws_secret_access_key=a+b/c==\n",
            "# a comment\r\n[default]\r\nAWS_Access_Key_Id = ID \r\naws_secret_access_key =  a+b/c==\r\nregion = x",
            "[other]\naws_access_key_id = X\naws_secret_access_key = Y\n[default]\naws_access_key_id = ID\n"
                + "aws_secret_access_key = a+b/c==\n[last]\naws_access_key_id = Z\n",
        ])
    func files(text: String) throws {
        let read = try S3Credentials(parsing: text)
        #expect(read == S3Credentials(id: "ID", secret: "a+b/c=="))
        #expect("\(read)" == "ID")
    }

    @Test(
        "A file without an access key is none",
        arguments: [
            "", "[default]", "aws_access_key_id = ID", "[other]\naws_access_key_id = X\naws_secret_access_key = Y",
            "aws_access_key_id =\naws_secret_access_key = Y",
        ])
    func otherFiles(text: String) {
        #expect(throws: S3Credentials.Malformed.self) { _ = try S3Credentials(parsing: text) }
    }

    @Test(
        "An address that names no bucket's host is refused",
        arguments: [
            "files", "ftp://host/files", "https:///files", "https://user:pass@host/files", "https://host/files?a",
        ])
    func addresses(address: String) {
        #expect(throws: S3Bucket.Failure.self) {
            _ = try S3Bucket(address, region: "us-east-1") { Self.credentials }
        }
    }
}
