import Crypto
import X509
import AsyncHTTPClient
import Yams
import ArgumentParser
print("aldaba")
