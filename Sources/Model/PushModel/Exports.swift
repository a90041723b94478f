// Whoever works with the model works with its instants.
@_exported import Timestamps
