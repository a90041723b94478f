@_exported import Foundation

// Uniform type identifiers, as values of `UNNotificationAttachmentOptionsTypeHintKey`. Values are Apple's.

/// An image of any kind. No attachment can be just that.
public let kUTTypeImage = "public.image"
/// Sound of any kind. No attachment can be just that.
public let kUTTypeAudio = "public.audio"
/// A movie of any kind. No attachment can be just that.
public let kUTTypeMovie = "public.movie"
/// A JPEG image.
public let kUTTypeJPEG = "public.jpeg"
/// A PNG image.
public let kUTTypePNG = "public.png"
/// A GIF image.
public let kUTTypeGIF = "com.compuserve.gif"
/// AIFF sound.
public let kUTTypeAudioInterchangeFileFormat = "public.aiff-audio"
/// WAV sound.
public let kUTTypeWaveformAudio = "com.microsoft.waveform-audio"
/// MP3 sound.
public let kUTTypeMP3 = "public.mp3"
/// MPEG-4 sound.
public let kUTTypeMPEG4Audio = "public.mpeg-4-audio"
/// An MPEG movie.
public let kUTTypeMPEG = "public.mpeg"
/// An MPEG-2 movie.
public let kUTTypeMPEG2Video = "public.mpeg-2-video"
/// An MPEG-4 movie.
public let kUTTypeMPEG4 = "public.mpeg-4"
/// An AVI movie.
public let kUTTypeAVIMovie = "public.avi"
