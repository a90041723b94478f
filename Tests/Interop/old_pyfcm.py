"""A sender of 2020 with PyFCM before 2.0: `old_pyfcm.py SERVER_KEY ADDRESS`, messages as JSON lines on standard input.

Each line has the method and its arguments; each answer is a line. Of the library only its address is changed.
"""

import json
import sys

from pyfcm import FCMNotification
from pyfcm.baseapi import BaseAPI
from pyfcm.errors import AuthenticationError, FCMError, InvalidDataError

BaseAPI.FCM_END_POINT = sys.argv[2] + "/fcm/send"
client = FCMNotification(api_key=sys.argv[1])
for line in sys.stdin:
    method, arguments = json.loads(line)
    try:
        print(json.dumps(getattr(client, method)(**arguments)), flush=True)
    except (AuthenticationError, FCMError, InvalidDataError) as error:
        print(json.dumps({"raised": type(error).__name__, "text": str(error)}), flush=True)
