"""A service extension of the package for Python: `python_extension.py`, which the agent starts."""

import dataclasses
import os

from aldaba.agent import AgentError, Attachment, ServiceExtension


class Extension(ServiceExtension):
    def change(self, notification, fetch):
        content = notification.content
        if content.title == "plain":
            return None
        if content.title == "fails":
            raise ValueError("the title is wrong")
        attachments = ()
        try:
            path = fetch(notification.payload["picture"], type_hint="jpg")
            attachments = (Attachment("picture", path, "public.jpeg"),)
            told = os.path.basename(path).split(".")[-1]
        except AgentError as error:
            told = error.code
        return dataclasses.replace(content, body=f"By Python: {told}", attachments=attachments)


if __name__ == "__main__":
    Extension().run()
