"""An HTTP/2 connection on which a test sees every frame that the server sends."""

from hyperframe.frame import SettingsFrame

from raw_http2 import RawConnection


class HeardConnection(RawConnection):
    """A connection that begins with the server's SETTINGS, read and acknowledged; `seconds` bounds its whole life."""

    def __init__(self, address, ca, seconds=10):
        super().__init__(address, ca)
        self._incoming = self._frames(seconds)
        self.settings = next(each for each in self._incoming if isinstance(each, SettingsFrame)).settings

    def until(self, condition):
        """The frames up to the first of which `condition` is true."""
        heard = []
        for each in self._incoming:
            heard.append(each)
            if condition(each):
                return heard
        raise AssertionError(f"the connection ended; there came {heard}")

    def status_of(self, headers):
        """The status that a HEADERS frame of the server's holds; each frame is to be asked once, in order."""
        return dict(self._decoder.decode(headers.data))[":status"]
