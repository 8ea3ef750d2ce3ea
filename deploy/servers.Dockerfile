# All capability servers in one image; the command says which of them a container runs:
#
#     docker build -f deploy/servers.Dockerfile -t powerstrip-servers .
#     docker run --rm -i powerstrip-servers doc-parser-mcp --stdio
#
# LibreOffice, for old Office formats and for exact PDFs of Office files, makes the image about 600 MB larger:
#
#     docker build -f deploy/servers.Dockerfile \
#         --build-arg OFFICE="libreoffice-writer libreoffice-calc libreoffice-impress" -t powerstrip-servers .
#
# deploy/compose.yaml runs them all next to the gateway.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends cmake g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --locked --release \
        -p audit-compliance -p doc-parser -p image-ocr -p job-search -p media-transform \
        -p resume-profile -p social-intelligence -p text-analysis -p video-subtitle

FROM debian:bookworm-slim
ARG PACKAGES="ffmpeg tesseract-ocr tesseract-ocr-osd tesseract-ocr-deu"
ARG OFFICE=""
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates $PACKAGES $OFFICE \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10002 --home-dir /var/lib/powerstrip-servers --create-home powerstrip
COPY --from=build \
        /source/target/release/audit-compliance-mcp /source/target/release/doc-parser-mcp \
        /source/target/release/image-ocr-mcp /source/target/release/job-search-mcp \
        /source/target/release/media-transform-mcp /source/target/release/resume-profile-mcp \
        /source/target/release/social-intelligence-mcp /source/target/release/text-analysis-mcp \
        /source/target/release/video-subtitle-mcp \
        /usr/local/bin/
USER 10002
WORKDIR /var/lib/powerstrip-servers
# References and jobs are in the cache folder below it.
VOLUME /var/lib/powerstrip-servers
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
CMD ["doc-parser-mcp", "--listen", "0.0.0.0:8000"]
