"""Moto's S3-compatible object store, as a process of a test's own on loopback."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3
from botocore.config import Config

from waiting import kill, wait_until

BUCKET, USER, READER = "files", "aldaba", "reader"
# The calls that need no access key: those of `ObjectStore.start`.
FIRST_CALLS = 7


class ObjectStore:
    """A store with one bucket, and an access key that may do in it what the server does, and nothing else.

    The test itself has another key.
    """

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="aldaba-objects-"))
        self.credentials = self.folder / "credentials"
        self.port, self.process, self.id, self.secret, self.reader = 0, None, None, None, None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/{BUCKET}"

    def start(self):
        """Starts an empty store at the same port, with another access key."""
        log = self.folder / "log"
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
                env=os.environ | {"INITIAL_NO_AUTH_ACTION_COUNT": str(FIRST_CALLS)},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(lambda: b"Running on" in log.read_bytes(), "the object store listens")
        self.port = int(log.read_text().split("http://127.0.0.1:")[1].split()[0])
        objects = f"arn:aws:s3:::{BUCKET}/*"
        self.id, self.secret = self._add(USER, ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"], objects)
        self.reader = self._client("s3", *self._add(READER, ["s3:*"], "*"))
        self._client("s3", "first", "first").create_bucket(Bucket=BUCKET)
        self.write_credentials(self.secret)
        return self

    def _add(self, user, actions, resource):
        """Adds somebody with an access key and rights; returns the key's id and secret."""
        people = self._client("iam", "first", "first")
        people.create_user(UserName=user)
        key = people.create_access_key(UserName=user)["AccessKey"]
        rights = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": actions, "Resource": resource}}
        people.put_user_policy(UserName=user, PolicyName="files", PolicyDocument=json.dumps(rights))
        return key["AccessKeyId"], key["SecretAccessKey"]

    def write_credentials(self, secret):
        self.credentials.write_text(f"[default]\naws_access_key_id = {self.id}\naws_secret_access_key = {secret}\n")
        self.credentials.chmod(0o600)

    def _client(self, service, key, secret):
        return boto3.client(
            service, endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1", aws_access_key_id=key,
            aws_secret_access_key=secret, config=Config(retries={"total_max_attempts": 1}))

    def objects(self):
        """The sizes of the objects by their keys."""
        found = self.reader.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return {each["Key"]: each["Size"] for each in found}

    def content(self, key):
        return self.reader.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def replace(self, key, content):
        self.reader.put_object(Bucket=BUCKET, Key=key, Body=content)

    def kill(self):
        kill(self.process.pid)
        self.process.wait(10)

    def remove(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)
