# A server for tests in a container: it accepts any key, service account, app and token.
#   docker build --file Packaging/container/tests.Dockerfile --tag aldaba-tests .
# compose.yaml beside this file runs it together with a program whose pushes come here. Swift is needed in the first stage alone.
ARG BASE=debian:bookworm-slim
ARG TOOLCHAIN=swift:6.3-bookworm
FROM ${TOOLCHAIN} AS builder
WORKDIR /source
COPY . .
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends dpkg-dev make \
    && make package BUNDLE=no PACKAGES=/packages

FROM ${BASE}
COPY --from=builder /packages/aldaba_*.deb /packages/aldaba-agent_*.deb /tmp/
COPY Packaging/container/serve-tests /usr/local/bin/serve-tests
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends /tmp/aldaba_*.deb /tmp/aldaba-agent_*.deb \
    && rm -rf /tmp/aldaba*.deb /var/lib/apt/lists/* \
    && install --directory --owner=aldaba --group=aldaba --mode=700 /var/lib/aldaba \
    && install --directory --owner=aldaba --group=aldaba --mode=755 /trust
USER aldaba
WORKDIR /var/lib/aldaba
ENV ALDABA_DATA=/var/lib/aldaba ALDABA_HOST=0.0.0.0 ALDABA_ENVIRONMENT=sandbox ALDABA_TEST_NETWORK=true \
    ALDABA_DEVELOPMENT=true ALDABA_ACCEPT_ANY_CREDENTIAL=true ALDABA_ACCEPT_ANY_TOKEN=true \
    ALDABA_SHARED_PORT=443 ALDABA_APNS_PORT=2197 ALDABA_LEGACY_PORT=2195 ALDABA_LEGACY_FEEDBACK_PORT=2196 ALDABA_DEVICE_PORT=5223 \
    ALDABA_CONTROL_PORT=8443 ALDABA_HTTP_PORT=8080 TRUST_FOLDER=/trust
# The authority's certificate, for the containers whose programs must trust this server.
VOLUME /trust
# 443 has Apple's and Google's hosts by their names, 8080 the test API.
EXPOSE 443 2195 2196 2197 5223 8080 8443
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=2s --timeout=5s --start-period=10s CMD ["bash", "-c", \
    "[[ -s $TRUST_FOLDER/ca.pem ]] && exec 3<>/dev/tcp/127.0.0.1/$ALDABA_HTTP_PORT && printf 'GET /health HTTP/1.0\\r\\nHost: 127.0.0.1:%s\\r\\n\\r\\n' $ALDABA_HTTP_PORT >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["serve-tests"]
