// Code written for Flutter's framework relies on its bringing UIKit along.
@_exported import UIKit
