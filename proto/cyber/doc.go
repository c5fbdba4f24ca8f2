// Package cyber has the container messages of Apollo Cyber records: what
// protoc-gen-go makes of record.proto and proto_desc.proto in this folder.
// scripts/protos/make writes it again.
package cyber
