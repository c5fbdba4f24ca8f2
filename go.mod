module github.com/bagconv/bagconv

go 1.26

require (
	github.com/dsnet/compress v0.0.1
	github.com/klauspost/compress v1.18.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/rogpeppe/go-internal v1.14.1
	github.com/urfave/cli/v2 v2.27.7
	github.com/vbauerster/mpb/v8 v8.10.2
	google.golang.org/protobuf v1.36.12
	gopkg.in/yaml.v3 v3.0.1
	modernc.org/sqlite v1.61.1
	zombiezen.com/go/sqlite v1.4.2
)
