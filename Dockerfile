# The image has the static binary, and an empty /tmp for what a run puts aside; nothing else.
#
#   docker build --build-arg VERSION=1.2.3 -t bagconv .     # with --build-arg TAGS=clouds also for gs:// and az://
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" bagconv drive.bag drive_ros2/
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=docker
ARG TAGS=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -mod=readonly -tags "urfave_cli_no_docs,arrow_json_stdlib${TAGS:+,$TAGS}" \
        -ldflags "-s -w -X github.com/bagconv/bagconv/cmd/bagconv/cli.release=$VERSION" \
        -o /image/bagconv ./cmd/bagconv \
    && mkdir -m 1777 /image/tmp

FROM scratch
COPY --from=build /image/ /
WORKDIR /data
ENTRYPOINT ["/bagconv"]
