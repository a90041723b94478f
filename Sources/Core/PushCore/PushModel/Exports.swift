// Code that uses the model uses its timestamps.
@_exported import CoreValues
