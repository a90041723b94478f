/// An error of the instance id: the code of an `NSError` of the domain `com.firebase.iid`. Raw values are Firebase's.
public enum InstanceIDError: UInt, Sendable {
    /// Nothing of the below.
    case unknown = 0
    /// The server does not accept this device's credentials.
    case authentication = 1
    /// The app may not do this.
    case noAccess = 2
    /// It took too long.
    case timeout = 3
    /// The server cannot be reached.
    case network = 4
    /// Too many operations are in progress already.
    case operationInProgress = 5
    /// Something in the request is not allowed.
    case invalidRequest = 7
}
